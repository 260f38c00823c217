from app.page import serve

serve("rank")
