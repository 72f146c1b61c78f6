extension Stage {
    /// The most instructions that each stage may take in a release build; `benchmark stages --record` prints these
    /// lines.
    static let instructionsMax = [
        "decode": 10946,
        "route": 618,
        "build template": 11840,
        "build apple": 8359,
        "build apple as the operator wrote it": 12294,
        "build fcmv1": 9898,
        "build windows": 22263,
        "request bytes": 1927,
        "read reply": 3726,
        "result record": 6653,
        "engine, whole life of an event": 48779,
        "mint token": 45239,
    ]
}
