/** The timeline of a simulator: joins each source of changes with it. */
import type { Watched } from '../../contract/attention.ts';
import type { CsipEvents } from '../../contract/csip-reports.ts';
import type { CommAlarms } from '../../core/comm-alarms.ts';
import type { FaultRegistry } from '../../core/faults/registry.ts';
import type { FindingRegistry } from '../../core/findings/registry.ts';
import type { LogBook } from '../../core/log/log.ts';
import type { WallClock } from '../../core/time/clock.ts';
import { callEvery } from '../../core/time/timers.ts';
import type { Every } from '../../core/time/timers.ts';
import { PeerWatch, protocolNames } from '../../core/timeline/peer-watch.ts';
import type { Timeline } from '../../core/timeline/timeline.ts';
import type { WireLog } from '../../core/wire/wire-log.ts';
import type { SimPlant } from '../../der/plant/plant.ts';
import { DaemonWatch } from './daemon-watch.ts';
import { tellDeviceChanges } from './devices.ts';
import { tellOcppCalls } from './ocpp-calls.ts';
import { tellPlant } from './plant.ts';
import { tellRefusals } from './refusals.ts';
import { tellCommAlarms, tellCsipEvents, tellFaults, tellFindings } from './registries.ts';
import { tellWrites } from './writes.ts';

const lookMs = 2000;

export interface FeedSources {
  readonly plant: SimPlant;
  readonly faults: FaultRegistry;
  readonly findings: FindingRegistry;
  readonly commAlarms: CommAlarms;
  readonly logBook: LogBook;
  readonly wireLog: WireLog;
  readonly csip: CsipEvents;
  readonly eventLoop: { readonly stalls: number };
  readonly wall: WallClock;
  readonly every?: Every;
}

export class TimelineFeed {
  readonly #sources: FeedSources;
  readonly #timeline: Timeline;
  readonly #peers: PeerWatch;
  readonly #daemon: DaemonWatch;
  readonly #ends: (() => void)[];
  #endCsip: () => void = () => undefined;

  constructor(timeline: Timeline, sources: FeedSources) {
    const { plant, faults, findings, commAlarms, logBook, wireLog, wall, every = callEvery } = sources;
    this.#sources = sources;
    this.#timeline = timeline;
    this.#peers = new PeerWatch({ wall, timeline, peers: () => findings.peers.each });
    this.#daemon = new DaemonWatch({ plant, eventLoop: sources.eventLoop, wall, timeline });
    this.#ends = [
      tellDeviceChanges(plant, timeline),
      tellPlant(plant, timeline),
      tellWrites(plant, wireLog, timeline),
      tellFaults(faults, timeline),
      tellFindings(findings, timeline),
      tellCommAlarms(commAlarms, timeline),
      tellRefusals(logBook, wireLog, timeline),
      tellOcppCalls(wireLog, timeline),
      every(lookMs, () => {
        this.#peers.look();
        this.#daemon.look();
      }),
    ];
    this.followCsip();
  }

  /** Follows the present client of CSIP; to be called again when another one has taken its place. */
  followCsip(): void {
    this.#endCsip();
    this.#endCsip = tellCsipEvents(this.#sources.csip, this.#sources.wireLog, this.#timeline);
  }

  get watched(): Watched {
    return {
      silentPeers: this.#peers.silent.map(({ peer, usualMs, sinceMs }) => ({
        id: peer.id,
        name: `${protocolNames[peer.identity.protocol]} ${peer.identity.address}`,
        usualS: usualMs / 1000,
        sinceMs,
      })),
      time: this.#daemon.trouble,
    };
  }

  close(): void {
    this.#endCsip();
    for (const end of this.#ends) end();
  }
}
