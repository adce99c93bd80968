"""Steps episodes of a wildgym server (`wildgym serve http`).

Standard library only, Python 3.9 or later, typed::

    from wildgym_client import Client

    with Client("http://127.0.0.1:8642", token="...") as client:
        (session,) = client.open("t1-001")
        seen = session.step([call("crm_search_contacts", query="lund")])
        session.answer("done")
        print(session.evaluate().reward)
"""

from .client import Client, Session, call
from .types import (
    CallResult,
    Episode,
    Evaluation,
    Figures,
    Observation,
    Parts,
    Refused,
    TaskInfo,
    Told,
)

__all__ = [
    "CallResult",
    "Client",
    "Episode",
    "Evaluation",
    "Figures",
    "Observation",
    "Parts",
    "Refused",
    "Session",
    "TaskInfo",
    "Told",
    "call",
]
