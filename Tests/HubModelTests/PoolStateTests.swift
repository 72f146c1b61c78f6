import ByteText
import HubModel
import NewsModel
import NotificationHub
import Testing

/// The pool's decisions, tested without sockets.
@Suite struct PoolStateTests {
    @Test func `a request opens a connection, is written once that is ready, and receives its reply`() {
        var pool = PoolShell()
        #expect(pool.send(1) == ["open 0"])
        #expect(pool.open(0) == ["write 1 on 0"])
        #expect(pool.reply(0) == [])
        #expect(pool.results == ["1 201"])
        #expect(pool.state.connections.serving(ConnectionID(0))?.inFlight == 0)
    }

    @Test func `the most recently used connection takes the next request`() {
        var pool = PoolShell()
        pool.send(1)
        pool.send(2)
        pool.open(0)
        pool.open(1)
        pool.reply(1)
        pool.reply(0)
        #expect(pool.send(3) == ["write 3 on 0"])
        #expect(pool.send(4) == ["write 4 on 1"])
    }

    @Test func `requests wait in order while all connections are busy, and one beyond the limit is not sent`() {
        var pool = PoolShell(connections: 1, waiting: 2)
        pool.send(1)
        pool.open(0)
        #expect(pool.send(2) + pool.send(3) + pool.send(4) == [])
        #expect(pool.results == ["4 not sent: queueFull"])
        #expect(pool.reply(0) == ["write 2 on 0"])
        #expect(pool.reply(0) == ["write 3 on 0"])
    }

    @Test func `each failed connection fails one request, and a dead hub is tried once for each`() {
        var pool = PoolShell(connections: 1)
        pool.send(1)
        pool.send(2)
        #expect(pool.closed(0, .connectRefused) == ["open 0"])
        #expect(pool.closed(0, .connectRefused) == [])
        #expect(pool.results == ["1 not sent: connectRefused", "2 not sent: connectRefused"])
    }

    @Test func `a connection that fails after its request went elsewhere fails no request`() {
        var pool = PoolShell()
        pool.send(1)
        pool.send(2)
        pool.open(0)
        pool.reply(0)
        #expect(pool.closed(1, .connectTimeout) == [])
        #expect(pool.results == ["1 201"])
    }

    @Test func `an idle connection is checked first, and its request moves on if the server has ended it`() {
        var pool = PoolShell()
        pool.send(1)
        pool.open(0)
        pool.reply(0)
        pool.wait(.milliseconds(9))
        #expect(pool.send(2) == ["write 2 on 0"])
        pool.reply(0)
        pool.wait(.milliseconds(10))
        #expect(pool.send(3) == ["check, write 3 on 0"])
        #expect(pool.tell { $0.endedBeforeWriting(on: ConnectionID(0), at: $1) } == ["close 0", "open 1"])
        #expect(pool.open(1) == ["write 3 on 1"])
    }

    @Test func `a request that waited too long for a connection is returned unsent`() {
        var pool = PoolShell(waitingTimeout: .seconds(3))
        pool.send(1)
        pool.wait(.milliseconds(2_999))
        #expect(pool.open(0) == ["write 1 on 0"])
        pool.send(2)
        pool.wait(.seconds(3))
        #expect(pool.open(1) == [])
        #expect(pool.results == ["2 not sent: waitedTooLong"])
        #expect(pool.send(3) == ["write 3 on 1"])
    }

    @Test func `a smaller share closes the least recently used idle connections, and none in use`() {
        var pool = PoolShell(connections: 4)
        for number in 1...4 { pool.send(UInt8(number)) }
        for place in 0..<4 { pool.open(place) }
        for place in [2, 0, 1] { pool.reply(place) }
        #expect(pool.tell { $0.keep(connections: 2, at: $1) } == ["close 2", "close 0"])
        #expect(pool.tell { $0.keep(connections: 4, at: $1) } == [])
        #expect(pool.send(5) == ["write 5 on 1"])
    }

    @Test func `a request that cannot be written leaves its connection to the next`() {
        var pool = PoolShell(connections: 1)
        pool.send(1)
        pool.send(2)
        pool.open(0)
        #expect(pool.answer(1, on: 0) { $0.unwritable($1, on: $2, at: $3) } == ["write 2 on 0"])
        #expect(pool.results == ["1 not sent: invalidRequest"])
    }

    @Test func `a failure in flight leaves its request unknown and frees its place`() {
        var pool = PoolShell(connections: 1)
        pool.send(1)
        pool.send(2)
        pool.open(0)
        #expect(pool.tell { $0.fail(ConnectionID(0), SendFailure(.reset, ""), at: $1) } == ["abort 0"])
        #expect(pool.closed(0) == ["open 0"])
        #expect(pool.results == ["1 unknown: reset"])
    }

    @Test func `an idle connection that fails affects no request and takes none`() {
        var pool = PoolShell(connections: 2)
        pool.send(1)
        pool.open(0)
        pool.reply(0)
        #expect(pool.tell { $0.fail(ConnectionID(0), SendFailure(.malformedReply, ""), at: $1) } == ["abort 0"])
        #expect(pool.send(2) == ["open 1"])
        #expect(pool.results == ["1 201"])
    }

    @Test func `a reply that ends the connection counts, and the next request gets a new one`() {
        var pool = PoolShell(connections: 1)
        pool.send(1)
        pool.open(0)
        #expect(pool.reply(0, keepsAlive: false) == ["abort 0"])
        #expect(pool.send(2) == [])
        #expect(pool.closed(0) == ["open 0"])
        #expect(pool.results == ["1 201"])
    }

    @Test func `each state lasts as long as its limit`() {
        var pool = PoolShell(connections: 3)
        pool.send(1)
        pool.send(2)
        pool.tell { $0.connected(ConnectionID(0), at: $1) }
        #expect(pool.wait(.seconds(9)) == [])
        #expect(pool.wait(.seconds(1)) == ["abort 0"], "the handshake")
        #expect(pool.results == ["1 not sent: connectTimeout"])
        pool.closed(0)
        pool.open(1)
        pool.send(3)
        #expect(pool.wait(.seconds(30)) == ["abort 1"], "the request")
        #expect(pool.results.last == "2 unknown: requestTimeout")
        pool.closed(1)
        pool.open(0)
        pool.reply(0)
        #expect(pool.wait(.seconds(60)) == ["close 0"], "the idle time")
        #expect(pool.wait(.seconds(2)) == ["abort 0"], "the farewell")
        #expect(pool[0] != .vacant)
        pool.closed(0)
        #expect(pool.state.connections.open == 0)
    }

    @Test func `only one alarm is set, for the earliest deadline`() {
        var pool = PoolShell()
        pool.send(1)
        pool.open(0)
        #expect(pool.wakes == [pool.now + .seconds(10)], "an earlier alarm serves a later deadline too")
        pool.wait(.seconds(10))
        #expect(pool.wakes.last == Instant(nanoseconds: 30_000_000_000))
        pool.reply(0)
        #expect(pool.wakes.count == 2)
    }

    @Test func `closing waits for replies and for nothing else`() {
        var pool = PoolShell()
        for number in 1...3 as ClosedRange<UInt8> { pool.send(number) }
        pool.open(0)
        pool.open(1)
        #expect(pool.tell { $0.close(within: .seconds(5), at: $1) } == [])
        #expect(pool.results == ["3 not sent: poolClosed"])
        #expect(pool.send(4) == [])
        #expect(pool.reply(0) == ["abort 0"])
        pool.closed(0)
        #expect(pool.reply(1) + pool.closed(1) == ["abort 1", "finish"])
        pool.send(5)
        #expect(pool.results == ["3 not sent: poolClosed", "4 not sent: poolClosed", "1 201", "2 201"])
    }

    @Test func `at the end of the time to close, pending replies and connections are aborted`() {
        var pool = PoolShell()
        pool.send(1)
        pool.open(0)
        pool.send(2)
        pool.tell { $0.close(within: .seconds(5), at: $1) }
        #expect(pool.wait(.seconds(5)) == ["abort 0", "abort 1"])
        #expect(pool.results == ["2 not sent: poolClosed", "1 unknown: poolClosed"])
        #expect(pool.closed(0) == ["finish"])
        #expect(pool.open(1) + pool.closed(1) + pool.wait(.seconds(100)) == [])
    }

    @Test func `results that arrive while the owner is called follow in a later turn`() {
        var pool = PoolShell(connections: 1, waiting: 0)
        pool.sendsAgain = 3
        pool.send(1)
        #expect(pool.results == ["1 not sent: queueFull"] + Array(repeating: "99 not sent: queueFull", count: 3))
    }

    /// A random sequence of events. Every request must get one result, a connection must carry one request at a time,
    /// and the pool must reach its end.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `no order of events loses a request`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var pool = PoolShell(connections: 3, waiting: 5)
        var lines: [String] = []
        var sent: UInt8 = 0
        for _ in 0..<200 {
            let place = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0...2 where sent < 250:
                sent += 1
                lines += pool.send(sent)
            case 3...4: lines += pool.open(place)
            case 5...6: lines += pool.reply(place, keepsAlive: .random(using: &random))
            case 7 where pool[place] != .vacant: lines += pool.closed(place)
            default: lines += pool.wait(.seconds(Int.random(in: 0...12, using: &random)))
            }
        }
        lines += pool.tell { $0.close(within: .seconds(1), at: $1) }
        lines += pool.wait(.seconds(1))
        for place in 0..<3 where pool[place] != .vacant { lines += pool.closed(place) }
        #expect(pool.isFinished)
        #expect(pool.results.compactMap { UInt8($0.prefix { $0 != " " }) }.sorted() == Array(1...max(sent, 1)))
        #expect(!lines.contains { $0.contains("a request for a") || $0.contains("after the end") }, "\(lines)")
    }
}
