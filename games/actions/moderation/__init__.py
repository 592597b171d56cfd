"""What staff can do. Every act asks a reason and writes its audit entry in the transaction of what it does.

`people`: warn, mute, suspend; `audit`: who may, and the entry itself.
"""
