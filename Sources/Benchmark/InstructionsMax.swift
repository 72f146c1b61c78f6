extension Stage {
    /// The most instructions that each stage may take in a release build; `benchmark stages --record` prints these
    /// lines.
    static let instructionsMax = [
        "decode": 10528,
        "route": 514,
        "build template": 6222,
        "build apple": 7275,
        "build fcmv1": 8782,
        "build windows": 28664,
        "request bytes": 1916,
        "read reply": 3726,
        "result record": 6642,
        "engine, whole life of an event": 37588,
        "mint token": 45239,
    ]
}
