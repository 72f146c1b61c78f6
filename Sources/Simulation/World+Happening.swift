import NewsModel
import PublishEngine

/// What is due, happens.
extension World {
    mutating func happen(_ occurrence: Occurrence) {
        switch occurrence {
        case .publish(let item): publish(item)
        case .begins(let fault): begin(fault)
        case .ends(let fault): end(fault)
        case .start(let process): start(process)
        case .thaw(let process): thaw(process)
        case .calm:
            isCalm = true
            tell(.calm)
        case .input(let address, let input): feed(address.process, input)
        case .reply(let flight, let reply): self.reply(reply, to: flight)
        case .alarm(let address, let serial): ring(address, serial)
        case .command(let address, let command): obey(command, address)
        case .poll(let address): poll(address)
        case .readLedger(let address, let job): readLedger(job, address)
        case .hear(let address, let lane, let round): hear(address, lane: lane, round: round)
        case .takeAssignment(let address, let lane, let generation, let partitions):
            takeAssignment(address, lane: lane, groupGeneration: generation, partitions)
        case .noticeLoss(let address, let lane): noticeLoss(address, lane: lane)
        case .loseReleasePatience(let address, let lane, let generation):
            unassign(address, lane: lane, generation: generation)
        case .exit(let address): exit(address)
        case .append(let address, let production): append(production, from: address)
        case .acknowledge(let address): acknowledge(address)
        case .commit(let address, let request): commit(request, from: address)
        case .completeJoin(let lane, let round, let isForced): completeJoin(lane, round: round, isForced: isForced)
        case .expireSession(let address, let lane): expire(address, lane: lane)
        case .arrive(let flight): arrive(flight)
        }
    }

    private mutating func ring(_ address: Address, _ serial: Int) {
        guard processes[address.process].alarm?.serial == serial else { return }
        processes[address.process].alarm = nil
        feed(address.process, .alarm)
    }

    private mutating func publish(_ item: Int) {
        books.publish(item)
        tell(.published(item: item))
        for process in processes.indices { wakePoll(process) }
    }

    /// Tells an engine something through its bridge, which keeps the order of what it tells.
    mutating func post(_ input: Input, to address: Address, after delay: Duration = .zero) {
        let at = max(processes[address.process].toldUntil, now + delay + random.milliseconds(0...3))
        processes[address.process].toldUntil = at
        agenda.add(.input(address, input), at: at)
    }

    // MARK: Processes

    mutating func start(_ index: Int) {
        guard processes[index].engine == nil else { return }
        let incarnation = processes[index].incarnation + 1
        let skew = processes[index].skew
        processes[index] = Process()
        processes[index].skew = skew
        processes[index].incarnation = incarnation
        processes[index].mintedAt = now
        processes[index].clients = Array(repeating: LaneClient(), count: life.setting.lanes.count)
        processes[index].engine = makeEngine(process: index, incarnation: incarnation)
        for (lane, settings) in life.setting.lanes.enumerated() {
            feed(index, .partitionCount(lane: lane, settings.topics.count * life.setting.partitions))
            if isPaused(lane) { feed(index, .pause(lane: lane, true)) }
        }
        let address = Address(process: index, incarnation: incarnation)
        for lane in life.setting.lanes.indices { join(address, lane: lane) }
    }

    mutating func crash(_ index: Int, returnsAfter: Duration) {
        guard processes[index].engine != nil else { return }
        let address = Address(process: index, incarnation: processes[index].incarnation)
        lastWords[address] = now + random.milliseconds(0...20)
        die(address)
        report.crashes += 1
        for lane in groups.indices {
            agenda.add(.expireSession(address, lane: lane), at: now + life.setting.sessionTimeout)
        }
        agenda.add(.start(process: index), at: now + returnsAfter)
    }

    private mutating func die(_ address: Address) {
        for tenure in processes[address.process].tenures { end(tenure: tenure, as: .died) }
        processes[address.process].tenures = []
        processes[address.process].engine = nil
    }

    /// The end of an orderly shutdown: the groups are left and the producer is empty.
    mutating func exit(_ address: Address) {
        let process = processes[address.process]
        guard process.isClosing, process.clients.allSatisfy(\.hasLeft) else { return }
        guard process.outstanding == 0 else {
            agenda.add(.exit(address), at: now + .milliseconds(20))
            return
        }
        die(address)
        agenda.add(.start(process: address.process), at: now + process.returnsAfter)
    }

    // MARK: Tenures

    /// Writes down what an input means for who holds what.
    mutating func note(_ input: Input, _ address: Address) {
        switch input {
        case .assigned(let lane, let generation, let partitions):
            for tenure in processes[address.process].tenures where books.tenures[tenure].lane == lane {
                end(tenure: tenure, as: .replaced)
            }
            processes[address.process].tenures.removeAll { books.tenures[$0].lane == lane }
            for partition in partitions {
                books.tenures.append(Tenure(address: address, lane: lane, generation: generation, partition: partition))
                processes[address.process].tenures.append(books.tenures.count - 1)
                tell(.began(tenure: books.tenures.count - 1))
            }
        case .restored(let lane, let generation, let results, _, let end?):
            for tenure in processes[address.process].tenures
            where books.tenures[tenure].lane == lane && books.tenures[tenure].generation == generation
                && books.tenures[tenure].partition.partition == results.partition
            {
                books.tenures[tenure].restored = min(books.tenures[tenure].ledgerStart, end)..<end
                tell(.restored(tenure: tenure))
            }
        case .revoked(let lane, let generation, let partitions, let isLost):
            for tenure in processes[address.process].tenures
            where books.tenures[tenure].lane == lane && books.tenures[tenure].generation == generation
                && partitions.contains(books.tenures[tenure].partition)
            {
                if isLost {
                    end(tenure: tenure, as: .lost)
                } else {
                    books.tenures[tenure].revokedAt = now + processes[address.process].skew
                }
            }
            processes[address.process].tenures.removeAll { books.tenures[$0].end != nil }
        default:
            break
        }
    }

    /// The engine gives a generation up.
    mutating func noteRelease(_ address: Address, lane: Int, generation: Int) {
        let time = now + processes[address.process].skew
        for tenure in processes[address.process].tenures
        where books.tenures[tenure].lane == lane && books.tenures[tenure].generation == generation {
            let revokedAt = books.tenures[tenure].revokedAt ?? time
            let isInTime = time - revokedAt < life.setting.engine.revokeDeadline
            end(tenure: tenure, as: isInTime ? .released : .overdue)
        }
        processes[address.process].tenures.removeAll { books.tenures[$0].end != nil }
    }

    private mutating func end(tenure: Int, as end: Tenure.End) {
        guard books.tenures[tenure].end == nil else { return }
        books.tenures[tenure].end = end
        tell(.ended(tenure: tenure))
    }

    /// The tenure under which an engine handles a partition.
    func tenure(of partition: TopicPartition, _ address: Address) -> Int? {
        processes[address.process].tenures.last { books.tenures[$0].partition == partition }
    }
}
