/** The judge of the masters of all Modbus adapters: it takes each request once it is answered, and changes nothing. */
import type { Findings, RuleHandle } from '../../../core/findings/rule.ts';
import { SetpointJudge } from '../../../core/findings/setpoints.ts';
import type { SetpointGroup } from '../../../core/findings/setpoints.ts';
import type { WallClock } from '../../../core/time/clock.ts';
import { modbusRules } from '../../../finding-rules/modbus.ts';
import type { Role } from '../access/certificate-role.ts';
import type { Framing } from '../framing/framing.ts';
import type { Peer } from '../../../core/findings/peer.ts';
import type { ConnectionJudge, MasterIdentity, MasterJudge } from '../server/context.ts';
import type { ModbusUnit } from '../server/unit.ts';
import { AdoptionJudge } from './adoptions.ts';
import { CommandJudge } from './commands.ts';
import { ConnectionJudges } from './connections.ts';
import { FrameJudge, newFrameState } from './frames.ts';
import { followSetpoints } from './map-bridge.ts';
import type { JudgedMap, WriteFacts } from './map-bridge.ts';
import { meetMap, MoveJudge } from './moved.ts';
import { answeredMs, newSpanState, pausePolls, ReadJudge } from './reads.ts';
import { JudgedRequest, Master } from './request.ts';
import type { ConnectionState, JudgeContext, ServedRequest } from './request.ts';
import { ScaleJudge } from './scales.ts';
import { WriteJudge } from './writes.ts';

/** Reasons why rules cannot be judged at masters of a transport. */
const noTls = 'the peer does not use TLS';
const noTcp = 'the peer is on a serial line';
const noSunspec = 'the peer has used no SunSpec map';

/** The set-points of one device, and their judge. */
interface JudgedSetpoints {
  readonly groups: readonly SetpointGroup[];
  readonly judge: SetpointJudge;
  readonly commands: CommandJudge;
}

export class ModbusJudge implements MasterJudge {
  readonly context: JudgeContext;
  readonly frames: FrameJudge;
  readonly reads: ReadJudge;
  readonly writes: WriteJudge;
  readonly adoptions: AdoptionJudge;
  readonly connections: ConnectionJudges;
  readonly moves: MoveJudge;
  readonly scales: ScaleJudge;
  readonly #masters = new WeakMap<Peer, Master>();
  /** by bank, which ends with its device */
  readonly #setpoints = new WeakMap<JudgedMap['bank'], JudgedSetpoints>();

  constructor(findings: Findings, clock: Pick<WallClock, 'nowMs' | 'monotonicMs'>) {
    this.context = {
      findings,
      rules: findings.rules('modbus', modbusRules),
      wallMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
    };
    this.frames = new FrameJudge(this.context);
    this.reads = new ReadJudge(this.context);
    this.writes = new WriteJudge(this.context);
    this.adoptions = new AdoptionJudge(this.context);
    this.connections = new ConnectionJudges(this.context);
    this.moves = new MoveJudge(this.context);
    this.scales = new ScaleJudge(this.context);
  }

  connected(identity: MasterIdentity): ConnectionJudge | null {
    const { findings } = this.context;
    if (!findings.on) return null;
    try {
      return new MasterConnection(this, this.#masterOf(identity), identity);
    } catch (error) {
      this.failed(error);
      return null;
    }
  }

  handshakeFailed(address: string, reason: string, isRefused: boolean): void {
    const { findings, rules, wallMs } = this.context;
    if (!findings.on || !isRefused) return;
    try {
      const peer = findings.peer({ protocol: 'modbus', address });
      // no request follows: the peer has shown a certificate, which no scanner does
      peer.isValid = true;
      peer.lastSeenMs = wallMs();
      if (peer.requests === 0) peer.lacking.set('sunspec', noSunspec);
      peer.lacking.delete('tls');
      rules.tls_client.broken(peer, null, () => ({ text: `got no TLS session: ${reason}`, facts: { reason } }), reason);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Switches the rules off: an error of a judge never reaches a master. */
  failed(error: unknown): void {
    this.context.findings.failed(this.context.rules, error);
  }

  setpointsOf({ bank }: JudgedMap, deviceIndex: number | null): JudgedSetpoints {
    let setpoints = this.#setpoints.get(bank);
    if (setpoints === undefined) {
      const { findings, rules, monotonicMs } = this.context;
      const judge = new SetpointJudge({ findings, rules, deviceIndex, monotonicMs });
      const groups = followSetpoints(bank, (group, how) => {
        judge.changed(group, how);
        commands.changed(group, how);
      });
      const commands = new CommandJudge(this.context, deviceIndex, groups);
      setpoints = { groups, judge, commands };
      this.#setpoints.set(bank, setpoints);
    }
    return setpoints;
  }

  #masterOf({ address, certificate, transport }: MasterIdentity): Master {
    const { findings, monotonicMs } = this.context;
    const peer = findings.peer({ protocol: 'modbus', address, ...(certificate !== undefined && { certificate }) });
    const existing = this.#masters.get(peer);
    if (existing !== undefined) return existing;
    if (transport !== 'tls') peer.lacking.set('tls', noTls);
    if (transport === 'serial') peer.lacking.set('tcp', noTcp);
    peer.lacking.set('sunspec', noSunspec);
    const master = new Master(peer, monotonicMs());
    this.#masters.set(peer, master);
    return master;
  }
}

/** One connection or line of a master. */
class MasterConnection implements ConnectionJudge {
  readonly #judge: ModbusJudge;
  readonly #master: Master;
  readonly #transport: MasterIdentity['transport'];
  readonly #role: Role | null | undefined;
  readonly #request: JudgedRequest;
  readonly #frames = newFrameState();
  readonly #spans = newSpanState();
  readonly #connection: ConnectionState;
  readonly #listener: number | undefined;
  #unitId = -1;
  #usesMap = false;
  #isOff = false;

  constructor(judge: ModbusJudge, master: Master, { transport, role, listener }: MasterIdentity) {
    this.#judge = judge;
    this.#master = master;
    this.#transport = transport;
    this.#role = role;
    this.#listener = listener;
    this.#connection = judge.connections.opened(master, listener);
    const { wallMs, monotonicMs, rules } = judge.context;
    this.#request = new JudgedRequest(master, monotonicMs());
    const { peer } = master;
    peer.connected(wallMs());
    peer.facet('transport', transport);
    if (transport === 'tls') {
      rules.tls_client.exercised(peer);
      peer.facet('role', role ?? 'none');
    }
  }

  received(nowMs: number): void {
    this.#request.nowMs = nowMs;
    this.#frames.together = 0;
  }

  logged(messageId: number): void {
    this.#request.messageId = messageId;
  }

  disturbed(): void {
    this.#frames.isDisturbed = true;
  }

  refused(error: unknown): void {
    this.#request.refused(error);
  }

  served(framing: Framing, unit: ModbusUnit | undefined, exception: number): void {
    if (this.#isOff) return;
    const request = this.#request;
    try {
      request.fill(framing, unit, exception);
      this.#count(framing, request);
      this.#judge.connections.answered(request, this.#connection);
      this.#judgeServed(request, framing);
    } catch (error) {
      this.#failed(error);
    }
    request.clear();
  }

  withheld(framing: Framing, unit: ModbusUnit | undefined, exception: number): void {
    if (this.#isOff) return;
    const request = this.#request;
    try {
      request.fill(framing, unit, exception);
      this.#count(framing, request);
      if (this.#transport !== 'serial') this.#judgeUnanswered(request, exception);
      // a fault may have carried the request out, which only the registers show
      request.error = null;
      if (request.isServed() && request.map !== null && hasWriteForm(request)) {
        this.#judge.setpointsOf(request.map, request.deviceIndex).commands.disturbed();
        if (exception > 0) this.#judge.writes.judgeRepetition(request);
      }
    } catch (error) {
      this.#failed(error);
    }
    request.clear();
  }

  broken(): void {
    this.#safely(() => {
      this.#judgeStream(this.#judge.context.rules.frame_invalid, 'sent a frame whose header is not that of Modbus TCP');
    });
  }

  unfinished(): void {
    this.#safely(() => {
      this.#judgeStream(this.#judge.context.rules.frame_unfinished, 'began a frame and did not finish it');
    });
  }

  closed(byMaster: boolean): void {
    const master = this.#master;
    master.peer.disconnected(this.#judge.context.wallMs());
    if (this.#transport === 'serial') return;
    this.#safely(() => {
      this.#judge.connections.closed(master, this.#connection, this.#listener, byMaster);
    });
  }

  /** Judges an event that is rare enough for a closure. */
  #safely(judge: () => void): void {
    if (this.#isOff) return;
    try {
      judge();
    } catch (error) {
      this.#failed(error);
    }
  }

  #judgeUnanswered(request: JudgedRequest, exception: number): void {
    const { connections } = this.#judge;
    if (exception === 0) connections.unanswered(request, this.#connection, answeredMs(request, this.#spans));
    else connections.answered(request, this.#connection);
  }

  /** Judges the end of a stream. Connections without a valid request are those of strangers. */
  #judgeStream(rule: RuleHandle, what: string): void {
    const { requests } = this.#connection;
    if (requests === 0) return;
    rule.broken(this.#master.peer, null, () => ({
      text: `${what}, after ${requests} ${requests === 1 ? 'request' : 'requests'}`,
      facts: { requests_before: requests },
    }));
  }

  /** Counts rules of the stream with its first request: its end is seen some time after the master has left. */
  #begun(): void {
    const { connections, context } = this.#judge;
    connections.begun(this.#master, this.#connection);
    context.rules.frame_invalid.exercised(this.#master.peer);
    context.rules.frame_unfinished.exercised(this.#master.peer);
  }

  #count({ unitId }: Framing, request: JudgedRequest): void {
    const { peer } = this.#master;
    peer.isValid = true;
    peer.requests += 1;
    const connection = this.#connection;
    connection.requests += 1;
    const { device } = request;
    if (this.#transport !== 'serial') {
      if (connection.requests === 1) this.#begun();
      else if (connection.requests === 2) this.#judge.context.rules.connection_per_request.exercised(peer);
      if (device !== null && device.user !== connection) this.#judge.connections.shared(request, device, connection);
    }
    if (unitId !== this.#unitId) {
      this.#unitId = unitId;
      peer.facet('unit', unitId);
    }
    if (!this.#usesMap && request.map !== null) {
      this.#usesMap = true;
      peer.lacking.delete('sunspec');
      // the enables as they are before its first write
      this.#judge.setpointsOf(request.map, request.deviceIndex);
    }
  }

  #judgeServed(request: JudgedRequest, framing: Framing): void {
    const { frames, reads, writes } = this.#judge;
    if (framing.name === 'mbap') frames.judgeTcp(request, this.#frames, framing);
    else frames.judgeBroadcast(request, framing.unitId);
    if (!request.isServed()) {
      frames.judge(request);
      frames.judgeUnserved(request, framing.unitId);
      return;
    }
    const { map, device } = request;
    if (map !== null) meetMap(device, map);
    if (request.isRead) {
      if (map !== null) frames.judgeTable(request);
      if (reads.isKnown(request, this.#spans)) return;
    }
    frames.judge(request);
    request.master.servedUnits[framing.unitId] = 1;
    if (request.isWrite) {
      request.peer.hasWritten = true;
      request.master.wroteMs = request.nowMs;
      pausePolls(this.#spans, request.nowMs);
    }
    if (map === null) this.#judge.moves.moved(request);
    else if (request.isRead) {
      this.#judgeReader(request);
      reads.judge(request, map);
      writes.read(request);
      if (request.exception === 0) this.#judgeAnswer(request, map);
    } else if (hasWriteForm(request)) this.#judgeWrite(request, map);
  }

  #judgeAnswer(request: ServedRequest, map: JudgedMap): void {
    const { device, address, count, peer } = request;
    if (!device.isLost) this.#judge.scales.read(request, map);
    this.#judge.adoptions.read(request);
    if (!device.awaitsReadback) return;
    const { groups, commands } = this.#judge.setpointsOf(map, request.deviceIndex);
    const positions = map.setpointsIn(address, count);
    for (const group of groups.filter((_, at) => positions.includes(at))) commands.read(peer, group);
    device.awaitsReadback = commands.awaitsReadback;
  }

  #judgeReader(request: JudgedRequest): void {
    if (this.#role === undefined) return;
    const rule = this.#judge.context.rules.role_missing;
    if (this.#role !== null) rule.exercised(request.peer);
    else if (request.exception === 1)
      rule.broken(request.peer, request.deviceIndex, () => ({
        text: `asked for ${request.registers} in a session whose certificate has no role`,
        facts: { registers: request.registers },
        ...request.evidence(),
      }));
  }

  #judgeWrite(request: ServedRequest, map: JudgedMap): void {
    const { writes, reads, adoptions } = this.#judge;
    const facts = map.writeFacts(request.address, request.count);
    if (facts === null) {
      writes.judgeRepetition(request);
      return;
    }
    this.#judgeReader(request);
    if (request.device.isLost) this.#judge.context.rules.write_part_of_point.undecided(request.peer);
    else writes.judge(request, map, facts, this.#role);
    reads.judgeDiscovery(request, map);
    this.#judgeSetpoints(request, map, facts);
    if (request.exception !== 0) {
      if (facts.requests.length > 0) adoptions.refused(request);
      return;
    }
    for (const set of facts.staged) adoptions.staged(request, map, set);
    for (const modelId of facts.requests) adoptions.requested(request, map, modelId);
  }

  #judgeSetpoints(request: ServedRequest, map: JudgedMap, facts: WriteFacts): void {
    const { groups, judge, commands } = this.#judge.setpointsOf(map, request.deviceIndex);
    for (const { group: at, setsValue, setsEnable } of facts.groups) {
      const group = groups[at];
      if (group === undefined) continue;
      if (request.exception !== 0) {
        judge.refused(request.peer, group);
        continue;
      }
      const write = { group, setsValue, setsEnable, evidence: request.evidence() };
      judge.wrote(request.peer, write);
      commands.wrote(request.peer, write);
      request.device.awaitsReadback ||= setsValue;
    }
  }

  #failed(error: unknown): void {
    this.#isOff = true;
    this.#judge.failed(error);
  }
}

/** True for a write whose registers can be read: its length fits its count. */
const hasWriteForm = ({ functionCode, count, pduLength }: JudgedRequest) =>
  functionCode === 6 ? pduLength === 5 : functionCode === 16 && count >= 1 && pduLength === 6 + 2 * count;
