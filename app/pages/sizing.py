from app.page import serve

serve("sizing")
