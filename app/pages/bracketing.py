from app.page import serve

serve("bracketing")
