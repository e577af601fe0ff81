"""Work on real models and devices, and the format in which measured numbers are kept.

`record` needs the standard library only, so pages can read measurements where no device library is installed.
"""
