"""Lesson texts in two languages, their parser and renderer, and the glossary, sources and interface words.

Nothing here imports Streamlit or the rest of the project: a lesson names values and slots, a page binds them.
"""
