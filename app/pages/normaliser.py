from app.page import serve

serve("normaliser")
