import NotificationHub
import Testing

/// The vocabulary of push services. `check` and the emulator use it.
struct PayloadVocabularyTests {
    private func findings(_ json: String, _ platform: Platform = .fcmv1) throws -> [String] {
        let body = try #require(JSONTree(parsing: Array(json.utf8)))
        return PayloadVocabulary.findings(in: body, for: platform).map {
            "\($0.path.joined(separator: ".")) \($0.message)"
        }
    }

    @Test(arguments: [
        #"{"message":{"token":"t","notification":{"title":"a","body":"b","image":"i"},"data":{"a":"b"}},"validate_only":true}"#,
        #"{"message":{"android":{"ttl":"3.5s","priority":"high","collapseKey":"c","directBootOk":"true","notification":{"channelId":"c","notification_count":"3","vibrate_timings":["1s"],"visibility":"public"}}}}"#,
        #"{"message":{"apns":{"payload":{"aps":{"anything":1}},"headers":{"apns-priority":"5"}},"webpush":{"fcm_options":{"link":"l"}},"data":null}}"#,
        #"{"message":{"android":{"ttl":"{{ttl}}s","priority":"{{data.priority}}"}}}"#,
    ])
    func `a message that FCM v1 accepts has no findings`(json: String) throws {
        #expect(try findings(json) == [])
    }

    @Test(arguments: [
        (#"{"message":{"android":{"ttl":3600}}}"#, "message.android.ttl must be a text such as 3600s"),
        (#"{"message":{"android":{"ttl":"3600"}}}"#, "message.android.ttl must be a text such as 3600s"),
        (#"{"message":{"android":{"ttl":".5s"}}}"#, "message.android.ttl must be a text such as 3600s"),
        (#"{"message":{"data":{"google.c":"x"}}}"#, "message.data.google.c is a name that Google reserves"),
        (
            #"{"message":{"android":{"notification":{"sticky":1}}}}"#,
            "message.android.notification.sticky must be true or false"
        ),
        (
            #"{"message":{"android":{"notification":{"body_loc_args":"x"}}}}"#,
            "message.android.notification.body_loc_args must be a JSON array"
        ),
        (
            #"{"message":{"android":{"notification":{"body_loc_args":["x",1]}}}}"#,
            "message.android.notification.body_loc_args.2 must be a string"
        ),
        (#"{"message":[]}"#, "message must be a JSON object"),
    ])
    func `a member that FCM v1 refuses is found`(json: String, finding: String) throws {
        #expect(try findings(json) == [finding])
    }

    @Test func `an alert may be a text or an object, and sounds too`() throws {
        #expect(try findings(#"{"aps":{"alert":"a","sound":"s"},"own":{"alert":1}}"#, .apple) == [])
        #expect(
            try findings(#"{"aps":{"alert":{"title":"a"},"sound":{"critical":1,"name":"s","volume":0.5}}}"#, .apple)
                == [])
        #expect(try findings(#"{"aps":{"alert":7}}"#, .apple) == ["aps.alert must be a string or a JSON object"])
        #expect(try findings(#"{"aps":{"alert":{"title":7}}}"#, .apple) == ["aps.alert.title must be a string"])
    }

    @Test func `the toast of Microsoft's guide has no findings`() throws {
        let toast = """
            <toast launch="action=view&amp;id=5" scenario="reminder"><visual><binding template="ToastGeneric">\
            <text hint-maxLines="1">a</text><image placement="appLogoOverride" hint-crop="circle" src="s"/>\
            <group><subgroup hint-weight="1"><text>b</text></subgroup></group></binding></visual>\
            <actions><input id="t" type="text" placeHolderContent="p"/>\
            <action content="c" arguments="a" activationType="background" hint-inputId="t"/></actions>\
            <audio src="ms-winsoundevent:Notification.Default" loop="false"/></toast>
            """
        #expect(PayloadVocabulary.findings(in: try XMLReader.read(Array(toast.utf8))) == [])
    }
}
