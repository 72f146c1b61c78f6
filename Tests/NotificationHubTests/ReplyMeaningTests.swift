import NotificationHub
import Testing

@Test(
    arguments: [
        (200, nil, ReplyMeaning.accepted), (201, nil, .accepted), (201, 5, .accepted),
        (202, nil, .unknownAcceptance), (204, nil, .unknownAcceptance),
        (400, nil, .refusedEvent), (400, 5, .refusedEvent), (413, nil, .refusedEvent), (409, nil, .refusedEvent),
        (410, nil, .refusedEvent), (415, nil, .refusedEvent), (431, nil, .refusedEvent), (499, nil, .refusedEvent),
        (401, nil, .tokenRefused), (401, 5, .tokenRefused),
        (403, nil, .forbidden), (403, 5, .throttled(retryAfter: .seconds(5))), (403, 0, .throttled(retryAfter: .zero)),
        (404, nil, .missingHub), (405, nil, .missingHub), (407, nil, .missingHub), (301, nil, .missingHub),
        (307, 5, .missingHub), (101, nil, .missingHub),
        (429, nil, .throttled(retryAfter: .seconds(10))), (429, 7, .throttled(retryAfter: .seconds(7))),
        (503, nil, .busy(retryAfter: nil)), (503, 3, .busy(retryAfter: .seconds(3))),
        (408, nil, .unknownAcceptance), (500, nil, .unknownAcceptance), (502, nil, .unknownAcceptance),
        (504, 5, .unknownAcceptance), (501, nil, .unknownAcceptance), (599, nil, .unknownAcceptance),
        (0, nil, .unknownAcceptance), (-1, nil, .unknownAcceptance), (999, nil, .unknownAcceptance),
        (Int.max, nil, .unknownAcceptance),
    ] as [(Int, Int?, ReplyMeaning)])
func `every status has one meaning`(status: Int, retryAfter: Int?, meaning: ReplyMeaning) {
    #expect(HubReply(status: status, retryAfter: retryAfter.map { .seconds($0) }).meaning == meaning)
}

@Test func `only 200 and 201 count as accepted`() {
    let accepted = (-10...1000).filter { HubReply(status: $0, retryAfter: .seconds(1)).meaning == .accepted }
    #expect(accepted == [200, 201])
}
