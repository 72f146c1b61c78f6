extension Stage {
    /// The instructions of each stage in a release build when last improved; `benchmark stages --record` prints these
    /// lines.
    static let instructionsMax = [
        "decode": 13671,
        "route": 514,
        "build template": 9253,
        "build apple": 13286,
        "build fcmv1": 14996,
        "build windows": 32513,
        "request bytes": 3655,
        "read reply": 6066,
        "result record": 12755,
        "engine, whole life of an event": 46717,
        "mint token": 45239,
    ]
}
