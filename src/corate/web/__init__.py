"""The page and the HTTP API of `corate serve`.

    request ──► guard ──► app (routes) ──► requests (shapes) ──► answers ──► Served (model) ──► JSON
                                                                              │
                                           corrections file ◄── learn, forget ──► model file, later

Starlette and uvicorn (the extra `web`) are imported by guard, app and server alone; `corrections` and
`served` need neither, and the commands that change models use them, too.
"""
