from app.page import serve

serve("sharpness")
