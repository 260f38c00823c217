"""The overview: the four views the project was asked for, linked."""

from app.page import serve

serve("explorer")
