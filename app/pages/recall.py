from app.page import serve

serve("recall")
