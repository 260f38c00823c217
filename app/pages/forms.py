from app.page import serve

serve("forms")
