"""The page while a run goes on: served to this machine only, fed over a websocket.

`LiveView` observes a run, `follow` a file that a run is writing. `server.py` serves, `guard.py` says who may enter,
`feed.py` talks to the viewers of a run, `packet.py` makes a frame ready to be sent.
"""

from .follow import follow
from .observer import LiveView
from .server import LiveError

__all__ = ["LiveError", "LiveView", "follow"]
