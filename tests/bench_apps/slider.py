"""The least a Streamlit page can be: one slider, one radio, each in a fragment of its own beside the value it sets."""

import streamlit as st


@st.fragment
def slider() -> None:
    value = st.slider("Value", 0, 1000, 500, key="slider")
    st.html(f"<p id='slider-value'>{value}</p>")


@st.fragment
def radio() -> None:
    value = st.radio("Choice", list("ABCDEFGH"), key="radio")
    st.html(f"<p id='radio-value'>{value}</p>")


st.title("Bare page")
slider()
radio()
