"""Pages as text, and the data that their scripts get."""

import base64
import json
import re

import numpy as np

from dualfold.view.page import PageContent, make_page


def page_html(maps, **shown):
    """The text of a page with these maps; `shown` are the other fields of `PageContent`."""
    return make_page(PageContent(maps, **shown)).html


def data_of(html):
    """The JSON inside a page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


def numbers_of(column):
    """The values of a column of that JSON."""
    return np.frombuffer(base64.b64decode(column["values"]), dtype="<" + column["type"])
