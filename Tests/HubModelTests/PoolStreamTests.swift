import ByteText
import HubModel
import NewsModel
import NotificationHub
import Testing

/// The pool's decisions about HTTP/2 connections, tested without sockets.
@Suite struct PoolStreamTests {
    /// A pool with one HTTP/2 connection.
    private func pool(requests: Int = 8, streams: Int = 100, waiting: Int = 8) -> PoolShell {
        var pool = PoolShell(connections: requests, waiting: waiting, offersHTTP2: true)
        pool.send(1)
        pool.open(0, .http2, streams: streams)
        return pool
    }

    @Test func `one connection carries many requests, and their replies come in any order`() {
        var pool = pool()
        #expect(pool.send(2) + pool.send(3) == ["write 2 on 0", "write 3 on 0"])
        for number in [3, 1, 2] as [UInt8] {
            pool.answer(number, on: 0) { $0.replied($1, on: $2, HubReply(status: 201), keepsAlive: true, at: $3) }
        }
        #expect(pool.results == ["3 201", "1 201", "2 201"])
    }

    @Test func `the pool's limit counts requests, however many connections carry them`() {
        var pool = pool(requests: 3)
        #expect(pool.send(2) + pool.send(3) + pool.send(4) == ["write 2 on 0", "write 3 on 0"])
        #expect(pool.reply(0) == ["write 4 on 0"])
    }

    @Test func `requests beyond the server's limit of streams get another connection`() {
        var pool = pool(streams: 2)
        #expect(pool.send(2) + pool.send(3) == ["write 2 on 0", "open 1, h2"])
        #expect(pool.send(4) == [], "the connection that is being opened has room for it")
        #expect(pool.open(1, .http2, streams: 2) == ["write 3 on 1", "write 4 on 1"])
    }

    @Test func `a server that chooses HTTP-1-1 gets as many connections as there are requests`() {
        var pool = PoolShell(connections: 3, waiting: 8, offersHTTP2: true)
        #expect(pool.send(1) + pool.send(2) + pool.send(3) == ["open 0, h2"])
        #expect(pool.open(0) == ["write 1 on 0", "open 1, h2", "open 2, h2"])
    }

    @Test func `a limit of streams that falls stops new requests, and those in flight go on`() {
        var pool = pool(waiting: 1)
        pool.send(2)
        #expect(pool.tell { $0.capacityChanged(ConnectionID(0), to: 0, at: $1) } == [])
        #expect(pool.send(3) == ["open 1, h2"])
        pool.reply(0)
        pool.reply(0)
        #expect(pool.results == ["1 201", "2 201"])
        #expect(pool.tell { $0.capacityChanged(ConnectionID(0), to: 1, at: $1) } == ["write 3 on 0"])
    }

    @Test func `requests that a leaving server has not processed go first to another connection, in order`() {
        var pool = pool(requests: 4)
        for number in 2...4 as ClosedRange<UInt8> { pool.send(number) }
        pool.send(5)
        let slots = [2, 3, 4].map { RequestSlot($0 - 1) }
        #expect(pool.tell { $0.leave(ConnectionID(0), refused: slots, at: $1) } == ["open 1, h2"])
        #expect(pool.open(1, .http2, streams: 9) == ["write 2 on 1", "write 3 on 1", "write 4 on 1"])
        #expect(pool.reply(0) == ["close 0", "write 5 on 1"], "the last request of the old connection has its reply")
        #expect(pool.results == ["1 201"])
    }

    @Test func `a server that asks for calm gets its next connection a moment later`() {
        var pool = pool()
        #expect(pool.tell { $0.leave(ConnectionID(0), refused: [RequestSlot(0)], isCalm: true, at: $1) } == ["close 0"])
        #expect(pool.closed(0) == [])
        #expect(pool.wait(.seconds(1)) == ["open 0, h2"])
    }

    @Test func `a request that is refused again and again is returned unsent`() {
        var pool = pool()
        for _ in 0..<3 {
            #expect(pool.answer(1, on: 0) { $0.refused($1, on: $2, at: $3) } == ["write 1 on 0"])
        }
        #expect(pool.answer(1, on: 0) { $0.refused($1, on: $2, at: $3) } == [])
        #expect(pool.results == ["1 not sent: refused"])
    }

    @Test func `a misdirected request is written on another connection`() {
        var pool = pool()
        let misdirected = HubReply(status: 421)
        #expect(
            pool.answer(1, on: 0) { $0.replied($1, on: $2, misdirected, keepsAlive: true, at: $3) }
                == ["close 0", "open 1, h2"])
        #expect(pool.open(1, .http2, streams: 9) == ["write 1 on 1"])
    }

    @Test func `a lost connection leaves all its requests unknown, and none is written again`() {
        var pool = pool()
        pool.send(2)
        #expect(pool.closed(0) == [])
        #expect(pool.results == ["1 unknown: closedEarly", "2 unknown: closedEarly"])
    }

    @Test func `a request without a reply in time is canceled, and the others on its connection go on`() {
        var pool = pool()
        pool.wait(.seconds(20))
        pool.send(2)
        pool.tell { $0.heard(ConnectionID(0), at: $1) }
        #expect(pool.wait(.seconds(10)).contains("cancel 1 on 0"))
        #expect(pool.results == ["1 unknown: requestTimeout"])
        pool.reply(0)
        #expect(pool.results.last == "2 201")
    }

    @Test func `a silent connection is pinged, and given up without an answer`() {
        var pool = pool()
        #expect(pool.wait(.seconds(5)) == ["ping 0"])
        pool.tell { $0.heard(ConnectionID(0), at: $1) }
        #expect(pool.wait(.seconds(5)) == ["ping 0"])
        #expect(pool.wait(.seconds(5)) == ["abort 0"])
        #expect(pool.results == ["1 unknown: requestTimeout"])
    }

    @Test func `a connection with an unanswered ping gets no further requests`() {
        var pool = pool()
        #expect(pool.wait(.seconds(5)) == ["ping 0"])
        #expect(pool.send(2) == ["open 1, h2"])
        #expect(pool.tell { $0.heard(ConnectionID(0), at: $1) } == ["write 2 on 0"])
    }

    @Test func `a server that leaves before it takes a request gets another connection`() {
        var pool = PoolShell(connections: 4, offersHTTP2: true)
        #expect(pool.send([1, 2]) == ["open 0, h2"])
        pool.tell { $0.connected(ConnectionID(0), at: $1) }
        #expect(pool.tell { $0.leave(ConnectionID(0), at: $1) } == ["abort 0", "open 1, h2"])
        #expect(pool.open(0, .http2, streams: 9) == [], "its settings come too late")
        #expect(pool.open(1, .http2, streams: 9) == ["write 2 on 1"])
        #expect(pool.results == ["1 not sent: closedEarly"])
    }

    @Test func `a leaving connection without room in its flow control does not keep others from opening`() {
        var pool = pool()
        pool.send(2)
        pool.answer(2, on: 0) { $0.blocked($1, on: $2, at: $3) }
        #expect(pool.tell { $0.leave(ConnectionID(0), at: $1) } == ["open 1, h2"])
        #expect(pool.open(1, .http2, streams: 9) == ["write 2 on 1"])
    }

    @Test func `a request that flow control holds back waits, and opens no further connection`() {
        var pool = pool()
        pool.send(2)
        #expect(pool.answer(2, on: 0) { $0.blocked($1, on: $2, at: $3) } == [])
        #expect(pool.send(3) == [])
        #expect(pool.tell { $0.unblocked(ConnectionID(0), at: $1) } == ["write 2 on 0", "write 3 on 0"])
    }

    @Test func `a blocked connection without a request in flight gives way to a new one`() {
        var pool = pool()
        pool.send(2)
        pool.answer(2, on: 0) { $0.blocked($1, on: $2, at: $3) }
        pool.reply(0)
        #expect(pool.wait(.milliseconds(900)) == [])
        #expect(pool.wait(.milliseconds(100)) == ["close 0", "open 1, h2"])
        #expect(pool.open(1, .http2, streams: 9) == ["write 2 on 1"])
    }

    @Test func `a server that allows no request gets one connection a second, and each fails one request`() {
        var pool = PoolShell(connections: 8, offersHTTP2: true)
        #expect(pool.send([1, 2, 3]) == ["open 0, h2"])
        #expect(pool.open(0, .http2, streams: 0) == [])
        #expect(pool.wakes.last == pool.now + .seconds(1))
        #expect(pool.wait(.seconds(1)) == ["close 0", "open 1, h2"])
        #expect(pool.results == ["1 not sent: connectTimeout"])
        #expect(pool.open(1, .http2, streams: 9) == ["write 2 on 1", "write 3 on 1"])
    }

    @Test func `a connection on which the server allows no more requests closes a second after its last reply`() {
        var pool = pool()
        pool.reply(0)
        pool.wait(.milliseconds(500))
        pool.tell { $0.capacityChanged(ConnectionID(0), to: 0, at: $1) }
        #expect(pool.send(2) == [])
        #expect(pool.wait(.milliseconds(500)) == ["close 0", "open 1, h2"])
        #expect(pool.results == ["1 201"], "the request came after the connection's last reply")
    }

    @Test func `several requests that flow control holds back keep their order`() {
        var pool = pool()
        pool.send([2, 3, 4])
        for number in 2...4 as ClosedRange<UInt8> { pool.answer(number, on: 0) { $0.blocked($1, on: $2, at: $3) } }
        #expect(
            pool.tell { $0.unblocked(ConnectionID(0), at: $1) } == ["write 2 on 0", "write 3 on 0", "write 4 on 0"])
    }

    @Test func `a request that the server leaves no room for comes back unsent, without any other event`() {
        var pool = PoolShell(connections: 4, waitingTimeout: .seconds(3), offersHTTP2: true)
        pool.send(1)
        pool.open(0, .http2, streams: 0)
        pool.wait(.seconds(3))
        #expect(pool.results == ["1 not sent: connectTimeout"])
    }

    @Test func `a server that breaks HTTP-2 is spoken to in HTTP-1-1 for a while, and no request fails`() {
        var pool = PoolShell(connections: 4, offersHTTP2: true)
        pool.send(1)
        pool.tell { $0.connected(ConnectionID(0), at: $1) }
        #expect(pool.tell { $0.breaksHTTP2(ConnectionID(0), at: $1) } == ["abort 0", "open 1"])
        #expect(pool.closed(0) + pool.open(1) == ["write 1 on 1"])
        pool.reply(1)
        pool.closed(1)
        pool.wait(.seconds(600))
        #expect(pool.send(2) == ["open 0, h2"])
        #expect(pool.results == ["1 201"])
    }

    @Test func `a server that chooses HTTP-2 and then says nothing is spoken to in HTTP-1-1, and no request fails`() {
        var pool = PoolShell(connections: 4, offersHTTP2: true)
        pool.send(1)
        pool.tell { $0.connected(ConnectionID(0), at: $1) }
        pool.tell { state, _ in state.choseHTTP2(ConnectionID(0)) }
        #expect(pool.wait(.seconds(10)) == ["abort 0", "open 1"])
        #expect(pool.closed(0) + pool.open(1) == ["write 1 on 1"])
        pool.reply(1)
        #expect(pool.results == ["1 201"])
    }

    @Test func `a group for a connection that the server has ended moves to another one whole`() {
        var pool = pool()
        pool.reply(0)
        pool.wait(.milliseconds(10))
        #expect(pool.send([2, 3, 4]) == ["check, write 2 on 0", "write 3 on 0", "write 4 on 0"])
        #expect(pool.tell { $0.endedBeforeWriting(on: ConnectionID(0), at: $1) } == ["close 0", "open 1, h2"])
        pool.closed(0)
        #expect(Set(pool.open(1, .http2, streams: 9)) == ["write 2 on 1", "write 3 on 1", "write 4 on 1"])
        #expect(pool.results == ["1 201"])
    }

    @Test func `an unused connection closes after its idle time`() {
        var pool = pool()
        pool.reply(0)
        #expect(pool.wait(.seconds(60)) == ["close 0"])
    }

    /// A random sequence of events on connections of both versions. Every request must get one result, no more may be in
    /// flight than the limit, and the pool must reach its end.
    @Test(arguments: 0..<300 as Range<UInt64>)
    func `no order of frames loses a request`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var pool = PoolShell(connections: 6, waiting: 10, offersHTTP2: true)
        var lines: [String] = []
        var sent: UInt8 = 0
        for _ in 0..<300 {
            let place = Int.random(in: 0..<3, using: &random)
            let connection = ConnectionID(place)
            let number = pool.inFlight(place).randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<19, using: &random) {
            case 0...4 where sent < 250:
                sent += 1
                lines += pool.send(sent)
            case 5...6:
                let isHTTP2 = Int.random(in: 0..<4, using: &random) > 0
                lines += pool.open(place, isHTTP2 ? .http2 : .http1, streams: Int.random(in: 0...5, using: &random))
            case 7...9 where number > 0:
                lines += pool.answer(number, on: place) {
                    $0.replied($1, on: $2, HubReply(status: 201), keepsAlive: true, at: $3)
                }
            case 10 where number > 0: lines += pool.answer(number, on: place) { $0.refused($1, on: $2, at: $3) }
            case 11 where number > 0:
                lines += pool.answer(number, on: place) { $0.ended($1, on: $2, SendFailure(.reset, ""), at: $3) }
            case 12 where number > 0: lines += pool.answer(number, on: place) { $0.blocked($1, on: $2, at: $3) }
            case 13: lines += pool.tell { $0.unblocked(connection, at: $1) }
            case 14: lines += pool.tell { $0.leave(connection, isCalm: seed % 2 == 0, at: $1) }
            case 15:
                let streams = Int.random(in: 0...5, using: &random)
                lines += pool.tell { $0.capacityChanged(connection, to: streams, at: $1) }
            case 16 where pool[place] != .vacant: lines += pool.closed(place)
            case 17 where pool.state.connections.serving(connection) != nil:
                lines += pool.tell { $0.endedBeforeWriting(on: connection, at: $1) }
            default: lines += pool.wait(.seconds(Int.random(in: 0...12, using: &random)))
            }
            #expect((0..<6).reduce(0) { $0 + pool.inFlight($1).count } <= 6)
        }
        lines += pool.tell { $0.close(within: .seconds(1), at: $1) }
        lines += pool.wait(.seconds(1))
        for place in 0..<6 where pool[place] != .vacant { lines += pool.closed(place) }
        #expect(pool.isFinished)
        #expect(pool.results.compactMap { UInt8($0.prefix { $0 != " " }) }.sorted() == Array(1...max(sent, 1)))
        #expect(!lines.contains { $0.contains("a write without") || $0.contains("after the end") }, "\(lines)")
    }
}
