import PublishEngine

/// The settings that decide which events are sent, to whom, and when readers sleep.
extension SettingsKey {
    static let policy = [
        SettingsKey(
            "environment", .text,
            """
            The name of this environment, e.g. production. Events stamped for another one are withheld. When not set, this \
            process counts as production and takes events without a stamp.
            """),
        SettingsKey(
            "acceptUnstamped", .boolean,
            """
            Take events that do not say for which environment they are. When not set: true, except in the environment \
            production with feeds under ingest, where it is false.
            """),
        SettingsKey(
            "test.tag", .text,
            """
            The tag that test events go to, and nowhere else; a tag that the app never chooses by itself. Without it they \
            are withheld.
            """),
        SettingsKey(
            "users.tag", .choice(UserTagForm.allCases.map(\.rawValue)), default: UserTagForm.userId.rawValue,
            """
            How events with users reach them. userId: by the tag $UserId:{…}, which hubs add to installations with that user. \
            plain: by user_ and a signature of the id, which your back end gives to the user's devices with the same secret; \
            works where FCM v1 does not match $UserId.
            """),
        SettingsKey(
            "users.secret", .text, secret: true,
            """
            Signs plain tags, and keys the pseudonyms that stand for users in results: at least 16 characters. Without it, \
            anyone who can guess a user's id can recognize its pseudonym.
            """),
        SettingsKey("quiet.*.categories", .list(.text), "The categories whose readers sleep then; when not set, all."),
        SettingsKey("quiet.*.from", .text, required: true, "When quiet hours begin, e.g. \"22:00\"."),
        SettingsKey(
            "quiet.*.to", .text, required: true,
            "When they end, e.g. \"07:00\"; on the next day if that is not later than their beginning."),
        SettingsKey(
            "quiet.*.zone", .text, required: true, "The time zone by whose clocks they go, e.g. Europe/Berlin."),
        SettingsKey(
            "quiet.*.do", .choice(QuietHours.Action.allCases.map(\.rawValue)),
            default: QuietHours.Action.silent.rawValue,
            """
            silent: send without a sound. delay: send the newest version of each story within ten minutes after they end. \
            drop: do not send.
            """),
        SettingsKey(
            "quiet.*.exceptUrgency", .integer(1...9),
            "Events as urgent as this or more (1 is the most urgent) are sent as by day; those without an urgency are not."
        ),
    ]
}
