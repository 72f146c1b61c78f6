import KafkaModel
import NewsModel
import PublishEngine

/// Consumer groups: their members, the members' partitions, and rebalances.
extension SimulatedCluster {
    // MARK: Members come and go

    mutating func join(_ address: Address, lane: LaneID) {
        if setting.isStatic,
            let known = groups[lane].members.firstIndex(where: { $0.address.process == address.process })
        {
            groups[lane].members[known].address = address
            let member = groups[lane].members[known]
            if groups[lane].isRebalancing || member.generation < 0 {
                groups[lane].members[known].hasJoined = true
                completeWhenJoined(lane)
            } else {
                give(member, lane: lane)
            }
            return
        }
        groups[lane].members.append(ConsumerGroup.Member(address: address))
        rebalance(lane)
    }

    mutating func leave(_ address: Address, lane: LaneID) {
        processes[address.process].lanes[lane].hasLeft = true
        if setting.isStatic {
            agenda.add(.expireSession(address, lane: lane), at: now + setting.sessionTimeout)
        } else {
            remove(address, lane: lane)
        }
        agenda.add(.exit(address), at: now)
    }

    private mutating func remove(_ address: Address, lane: LaneID) {
        guard let index = groups[lane].index(of: address) else { return }
        groups[lane].members.remove(at: index)
        rebalance(lane)
    }

    mutating func expireSession(_ address: Address, lane: LaneID) {
        let process = processes[address.process]
        let isGone =
            process.run != address.run || process.engine == nil || process.lanes[lane].hasLeft
        guard isGone || process.frozenUntil > now else { return }
        expel(address, lane: lane, noticedAfter: max(process.frozenUntil - now, .zero))
    }

    /// The broker drops a member, which notices it later.
    mutating func expel(_ address: Address, lane: LaneID, noticedAfter delay: Duration) {
        guard groups[lane].index(of: address) != nil else { return }
        remove(address, lane: lane)
        agenda.add(.noticeLoss(address, lane: lane), at: now + delay)
    }

    mutating func noticeLoss(_ address: Address, lane: LaneID) {
        let client = processes[address.process].lanes[lane]
        guard groups[lane].index(of: address) == nil, !client.hasLeft else { return }
        switch client.consumer.phase {
        case .draining: break
        case .unassigned: rejoin(address, lane: lane)
        case .assigned: revoke(address, lane: lane, isLost: true)
        }
    }

    // MARK: Rebalances

    /// Starts a rebalance: all members must release their partitions and join again.
    mutating func rebalance(_ lane: LaneID) {
        if !groups[lane].isRebalancing {
            groups[lane].isRebalancing = true
            groups[lane].round += 1
            report.rebalances += 1
            for index in groups[lane].members.indices where groups[lane].members[index].generation >= 0 {
                groups[lane].members[index].hasJoined = false
                let address = groups[lane].members[index].address
                agenda.add(
                    .noticeRebalance(address, lane: lane, round: groups[lane].round),
                    at: now + random.milliseconds(0...300))
            }
            agenda.add(
                .completeJoin(lane: lane, round: groups[lane].round, isForced: true), at: now + .seconds(60))
        }
        completeWhenJoined(lane)
    }

    private mutating func completeWhenJoined(_ lane: LaneID) {
        guard groups[lane].isRebalancing, groups[lane].members.allSatisfy(\.hasJoined) else { return }
        agenda.add(
            .completeJoin(lane: lane, round: groups[lane].round, isForced: false),
            at: now + random.milliseconds(1...100))
    }

    mutating func completeJoin(_ lane: LaneID, round: Int, isForced: Bool) {
        guard groups[lane].isRebalancing, groups[lane].round == round else { return }
        if isForced {
            for member in groups[lane].members where !member.hasJoined {
                if let index = groups[lane].index(of: member.address) { groups[lane].members.remove(at: index) }
                agenda.add(.noticeLoss(member.address, lane: lane), at: now + .milliseconds(300))
            }
        }
        guard groups[lane].members.allSatisfy(\.hasJoined) else { return }
        groups[lane].assign(topics: setting.lanes[lane].topics, counts: announcedCounts)
        for member in groups[lane].members { give(member, lane: lane) }
        // The leader's view of the topics may be outdated by now.
        agenda.add(.noticeCounts(lane: lane), at: now + .seconds(5))
    }

    private mutating func give(_ member: ConsumerGroup.Member, lane: LaneID) {
        agenda.add(
            .takeAssignment(
                member.address, lane: lane, groupGeneration: member.generation, partitions: member.partitions),
            at: now + random.milliseconds(0...50))
    }

    /// Starts a rebalance if a metadata refresh shows partition counts that differ from the assigned ones.
    mutating func noticeCounts(_ lane: LaneID) {
        let topics = setting.lanes[lane].topics
        let isCurrent = topics.allSatisfy { groups[lane].assignedCounts[$0] == announcedCounts[$0] }
        guard !isCurrent, !groups[lane].members.isEmpty, !groups[lane].isRebalancing else { return }
        rebalance(lane)
    }

    // MARK: Assignment and release

    mutating func takeAssignment(
        _ address: Address, lane: LaneID, groupGeneration: Int, _ partitions: [TopicPartition]
    ) {
        let index = address.process
        guard processes[index].lanes[lane].groupGeneration < groupGeneration, !processes[index].isClosing else {
            if processes[index].isClosing, !processes[index].lanes[lane].hasLeft { leave(address, lane: lane) }
            return
        }
        var events = ShardEvents(shards: 1)
        processes[index].lanes[lane].consumer.assigned(partitions, &events)
        processes[index].lanes[lane].groupGeneration = groupGeneration
        processes[index].lanes[lane].positions = [:]
        for partition in partitions {
            processes[index].lanes[lane].positions[partition] = position(of: partition, lane: lane)
        }
        processes[index].lanes[lane].ledger.begin(processes[index].lanes[lane].consumer.generation)
        post(events, to: address)
        agenda.add(.askCounts(address, isRegular: false), at: now)
        wakePoll(index)
    }

    /// Returns the group's committed offset; without one, the beginning.
    private mutating func position(of partition: TopicPartition, lane: LaneID) -> LaneClient.FetchPosition {
        let commit = truth.committed[lane][partition]
        return LaneClient.FetchPosition(
            offset: commit?.offset ?? 0, incarnation: truth.sources[partition]?.incarnation ?? 0,
            wasCommitted: commit != nil)
    }

    /// A heartbeat's answer reports that the group rebalances.
    mutating func noticeRebalance(_ address: Address, lane: LaneID, round: Int) {
        guard let index = groups[lane].index(of: address), groups[lane].round == round,
            !groups[lane].members[index].hasJoined
        else { return }
        let client = processes[address.process].lanes[lane]
        guard client.groupGeneration == groups[lane].members[index].generation else {
            // Its last assignment is still in flight.
            agenda.add(.noticeRebalance(address, lane: lane, round: round), at: now + .milliseconds(60))
            return
        }
        if case .draining = client.consumer.phase { return }
        guard !client.hasLeft else { return }
        revoke(address, lane: lane, isLost: false)
    }

    mutating func revoke(_ address: Address, lane: LaneID, isLost: Bool) {
        let index = address.process
        var events = ShardEvents(shards: 1)
        let steady = processes[index].moment(at: now).steady
        processes[index].lanes[lane].ledger.begin(processes[index].lanes[lane].consumer.generation.next)
        let isGone = processes[index].lanes[lane].consumer.revoked(lost: isLost, at: steady, &events)
        post(events, to: address)
        if isGone {
            unassign(address, lane: lane)
        } else {
            agenda.add(.expireRelease(address, lane: lane), at: now + setting.releaseTimeout)
        }
    }

    /// Handles shards that did not release in time.
    mutating func expireRelease(_ address: Address, lane: LaneID) {
        let steady = processes[address.process].moment(at: now).steady
        guard processes[address.process].lanes[lane].consumer.expired(at: steady) else { return }
        strike(.impatientDriver)
        unassign(address, lane: lane)
    }

    /// Continues after the partitions were released: joins the next round, or leaves.
    mutating func unassign(_ address: Address, lane: LaneID) {
        if processes[address.process].isClosing {
            leave(address, lane: lane)
        } else {
            rejoin(address, lane: lane)
        }
    }

    private mutating func rejoin(_ address: Address, lane: LaneID) {
        guard let index = groups[lane].index(of: address) else {
            join(address, lane: lane)
            return
        }
        groups[lane].members[index].hasJoined = true
        completeWhenJoined(lane)
    }
}
