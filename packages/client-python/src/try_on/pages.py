"""Lists that read page after page."""

from __future__ import annotations

from typing import Any, Dict, Generic, Iterator, List, Mapping, TypeVar, Union, cast

from .http import HttpClient

Item = TypeVar("Item")
Page = TypeVar("Page", bound=Mapping[str, Any])

Query = Dict[str, Union[str, int, None]]


class Pages(Generic[Item, Page]):
    """The result of a list. Sends no request until it is used.

    Iterating reads page after page and yields each item; it raises ApiError or ApiConnectionError.
    """

    def __init__(self, http: HttpClient, path: str, items: str, query: Query) -> None:
        self._http = http
        self._path = path
        self._items = items
        self._query = query

    def page(self) -> Page:
        """Reads one page.

        Raises:
            ApiError: The API rejected the request.
            ApiConnectionError: There was no response.
        """
        return self._read(self._query)

    def __iter__(self) -> Iterator[Item]:
        for items in self._pages():
            yield from items

    def _pages(self) -> Iterator[List[Item]]:
        query = self._query
        while True:
            page = self._read(query)
            yield page[self._items]
            if page["next_cursor"] is None:
                return
            query = {**query, "cursor": page["next_cursor"]}

    def _read(self, query: Query) -> Page:
        return cast(Page, self._http.request("GET", self._path, query=query))
