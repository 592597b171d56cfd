"""What staff can do. Every act asks a reason and writes its audit entry in the transaction of what it does.

`tables`: at a table; `people`: warn, mute, suspend; `accounts`: names, roles, closing; `cases`: reports and appeals,
from both sides; `watch`: cases that the site opens by itself; `audit`: who may, and the entry itself.
"""
