import NotificationHub
import Testing

@Test(
    arguments: [
        (200, nil, SendMeaning.accepted), (201, nil, .accepted), (201, 5, .accepted),
        (202, nil, .unknownAcceptance(isHubAway: false)), (204, nil, .unknownAcceptance(isHubAway: false)),
        (400, nil, .refusedEvent), (400, 5, .refusedEvent), (413, nil, .refusedEvent), (409, nil, .refusedEvent),
        (410, nil, .refusedEvent), (415, nil, .refusedEvent), (431, nil, .refusedEvent), (499, nil, .refusedEvent),
        (401, nil, .tokenRefused), (401, 5, .tokenRefused),
        (403, nil, .forbidden), (403, 5, .busy(retryAfter: .seconds(5))), (403, 0, .busy(retryAfter: .zero)),
        (404, nil, .missingHub), (405, nil, .missingHub), (407, nil, .missingHub), (301, nil, .missingHub),
        (307, 5, .missingHub), (101, nil, .missingHub),
        (429, nil, .busy(retryAfter: .seconds(10))), (429, 7, .busy(retryAfter: .seconds(7))),
        (503, nil, .busy(retryAfter: nil)), (503, 3, .busy(retryAfter: .seconds(3))),
        (408, nil, .unknownAcceptance(isHubAway: false)), (500, nil, .unknownAcceptance(isHubAway: false)),
        (502, nil, .unknownAcceptance(isHubAway: true)),
        (504, 5, .unknownAcceptance(isHubAway: true)), (501, nil, .unknownAcceptance(isHubAway: false)),
        (599, nil, .unknownAcceptance(isHubAway: false)),
        (0, nil, .unknownAcceptance(isHubAway: false)), (-1, nil, .unknownAcceptance(isHubAway: false)),
        (999, nil, .unknownAcceptance(isHubAway: false)),
        (Int.max, nil, .unknownAcceptance(isHubAway: false)),
    ] as [(Int, Int?, SendMeaning)])
func `every status has one meaning`(status: Int, retryAfter: Int?, meaning: SendMeaning) {
    #expect(HubReply(status: status, retryAfter: retryAfter.map { .seconds($0) }).meaning == meaning)
}

@Test func `only 200 and 201 count as accepted`() {
    let accepted = (-10...1000).filter { HubReply(status: $0, retryAfter: .seconds(1)).meaning == .accepted }
    #expect(accepted == [200, 201])
}
