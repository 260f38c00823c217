from app.page import serve

serve("memory")
