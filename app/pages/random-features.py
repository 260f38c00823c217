from app.page import serve

serve("random-features")
