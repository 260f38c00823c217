from app.notes import serve

serve()
