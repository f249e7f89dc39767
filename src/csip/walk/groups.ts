/** FunctionSetAssignments of one EndDevice: each leads to a list of programs, and may have its own Time. */
import { onceEach } from '../../core/log/limited-log.ts';
import type { RemoteClock } from '../../core/time/remote-clock.ts';
import { maxEvents } from '../events/receive.ts';
import type { Received } from '../xml/schema.ts';
import type { FunctionSetAssignments } from '../xml/documents.ts';
import type { FoundProgram, FoundResource } from './model.ts';
import type { Holding } from './bounds.ts';
import { failure, missing } from './poll.ts';
import type { Poll, PollResult } from './poll.ts';
import { foundResource, ProgramListWalk } from './programs.ts';
import type { WalkParts } from './programs.ts';
import { resolved } from './reader.ts';
import type { LinkTo } from './reader.ts';
import { firstRemarks } from './remarks.ts';
import type { Remark } from './remarks.ts';
import { GroupTime } from './time.ts';

/** Maximum of lists of programs that are followed for one EndDevice. */
const maxLists = 1000;
/** Maximum of Times of FSAs that are followed for one EndDevice. */
const maxTimes = 100;

export interface GroupsOptions extends WalkParts {
  readonly link: LinkTo;
  /** absolute URI */
  readonly url: string;
  readonly remoteClock: RemoteClock;
  readonly monotonicMs: () => number;
  readonly timeStaleS: () => number;
  /** absolute URI of the Time of the server; null: it has none */
  readonly serverTimeUrl: () => string | null;
  /** called when the server no longer has the list, so that the EndDeviceList is read again */
  readonly lost: () => void;
  readonly changed: (programs: readonly FoundProgram[]) => void;
}

interface GroupClock {
  readonly url: string;
  readonly group: GroupTime;
  readonly poll: Poll;
}

interface Group {
  readonly url: string;
  readonly programsUrl: string | null;
  /** null: the Time of the server */
  readonly time: GroupClock | null;
}

const timesOf = (groups: readonly Group[]): readonly GroupClock[] => [
  ...new Set(groups.flatMap(({ time }) => (time === null ? [] : [time]))),
];

function byPrograms(groups: readonly Group[]): ReadonlyMap<string | null, readonly Group[]> {
  const groupsOf = new Map<string | null, Group[]>();
  for (const group of groups) {
    const earlier = groupsOf.get(group.programsUrl);
    if (earlier) earlier.push(group);
    else groupsOf.set(group.programsUrl, [group]);
  }
  return groupsOf;
}

/** Remarks about FSAs that lead to no programs. */
const groupRemarks = (items: readonly Received<FunctionSetAssignments>[], base: string): readonly Remark[] =>
  items.flatMap(({ href, DERProgramListLink: link }, at) => {
    if (link?.href !== undefined && resolved(link.href, base) !== null) return [];
    const name = href ?? `at ${at} of its list`;
    const message = `the FunctionSetAssignments ${name} have no usable DERProgramListLink, and no programs (${base})`;
    return [{ code: 'group-without-programs', message }];
  });

export class GroupsWalk {
  readonly poll: Poll;
  readonly #options: GroupsOptions;
  /** for problems that would be logged at every reading */
  readonly #warnOnce: (message: string) => void;
  readonly #holding: Holding;
  #groups: readonly Group[] = [];
  /** by the URL of their list of programs; null: without a list */
  #groupsOf: ReadonlyMap<string | null, readonly Group[]> = new Map();
  readonly #lists = new Map<string, ProgramListWalk>();
  #resource: FoundResource;
  #askedParent = false;
  /** true while new lists are being read: their programs are reported together */
  #taking = false;
  #stopped = false;

  constructor(options: GroupsOptions) {
    this.#options = options;
    this.#holding = options.bounds.part();
    this.#warnOnce = onceEach(options.warn);
    this.#resource = foundResource('FunctionSetAssignmentsList', options.url, null);
    this.poll = options.makePoll(() => this.#read());
  }

  get resources(): readonly FoundResource[] {
    return [this.#resource, ...[...this.#lists.values()].flatMap((list) => list.resources)];
  }

  /** All polls of the groups, with the names of their resources. */
  get polls(): readonly { readonly name: string; readonly poll: Poll }[] {
    return [
      { name: 'FunctionSetAssignmentsList', poll: this.poll },
      ...timesOf(this.#groups).map(({ poll }) => ({ name: 'Time', poll })),
      ...[...this.#lists.values()].map(({ poll }) => ({ name: 'DERProgramList', poll })),
    ];
  }

  /** Reads everything again. */
  async all(): Promise<void> {
    for (const list of this.#lists.values()) list.forgetCurves();
    await this.poll.now();
    await Promise.all(timesOf(this.#groups).map(({ poll }) => poll.now()));
    await Promise.all([...this.#lists.values()].map(({ poll }) => poll.now()));
  }

  /** Reads the lists that contain a resource at once. */
  async reread(url: string): Promise<void> {
    const shows = (resources: readonly FoundResource[]) => resources.some((resource) => resource.url === url);
    if (url === this.#options.url) await this.poll.anew();
    const lists = [...this.#lists.values()].filter((list) => shows(list.resources));
    await Promise.all(lists.map(({ poll }) => poll.anew()));
  }

  stop(): void {
    this.#stopped = true;
    for (const { poll } of this.polls) poll.stop();
    for (const list of this.#lists.values()) list.stop();
    this.#holding.close();
  }

  async #read(): Promise<PollResult> {
    const { reader, link, url, deviceIndex, rateOf, missed, lost } = this.#options;
    this.#holding.begin();
    const read = await reader.list('FunctionSetAssignmentsList', link, deviceIndex, this.#holding);
    this.#holding.end(read.kind === 'found');
    if (this.#stopped) this.#holding.close();
    if (this.#stopped) return 'failed';
    if (read.kind === 'absent') {
      if (!this.#askedParent) lost();
      this.#askedParent = true;
      await this.#take([], url);
      return missing(read, rateOf(undefined));
    }
    if (read.kind !== 'found') {
      missed(read);
      return read.kind === 'failed' ? failure(read) : missing(read, rateOf(undefined));
    }
    this.#askedParent = false;
    this.#resource = foundResource('FunctionSetAssignmentsList', url, read.value.list);
    await this.#take(read.value.items, read.url);
    const remarks = firstRemarks([...read.remarks, ...groupRemarks(read.value.items, read.url)]);
    return { rateS: rateOf(read.value.list.pollRate), remarks };
  }

  /** Follows new groups and drops removed ones; new lists are read before the programs are reported. */
  async #take(items: readonly Received<FunctionSetAssignments>[], base: string): Promise<void> {
    const before = timesOf(this.#groups);
    const times = new Map<string, GroupClock>();
    this.#groups = items.map((item, at) => this.#group(item, base, at, (url) => this.#timeOf(url, times, before)));
    this.#groupsOf = byPrograms(this.#groups);
    for (const time of before) if (times.get(time.url) !== time) time.poll.stop();
    await Promise.all(timesOf(this.#groups).flatMap(({ poll }) => (poll.rateS === null ? [poll.now()] : [])));
    const urls = new Map<string, LinkTo>();
    items.forEach((item, at) => {
      const [url, href] = [this.#groups[at]?.programsUrl, item.DERProgramListLink?.href];
      if (url && href !== undefined && urls.size < maxLists) urls.set(url, { href, base });
    });
    for (const [url, list] of this.#lists)
      if (!urls.has(url)) {
        list.stop();
        this.#lists.delete(url);
      }
    const added = [...urls].filter(([url]) => !this.#lists.has(url)).map(([url, link]) => this.#addList(url, link));
    this.#taking = true;
    await Promise.all(added.map((list) => list.poll.now()));
    this.#taking = false;
    this.#report();
  }

  #group(
    item: Received<FunctionSetAssignments>,
    base: string,
    at: number,
    timeOf: (url: string) => GroupClock | null,
  ): Group {
    const url = resolved(item.href ?? `#${at}`, base) ?? base;
    const programs = item.DERProgramListLink?.href;
    const timeHref = item.TimeLink?.href;
    const timeUrl = timeHref === undefined ? null : resolved(timeHref, base);
    const hasTime = timeUrl !== null && timeUrl !== this.#options.serverTimeUrl();
    const time = hasTime ? timeOf(timeUrl) : null;
    return { url, programsUrl: programs === undefined ? null : resolved(programs, base), time };
  }

  /**
   * The clock of all groups with the same Time. @returns null: the maximum is reached
   * @param times clocks of this reading
   * @param before clocks of the previous reading
   */
  #timeOf(url: string, times: Map<string, GroupClock>, before: readonly GroupClock[]): GroupClock | null {
    const existing = times.get(url);
    if (existing !== undefined) return existing;
    if (times.size >= maxTimes) {
      this.#warnOnce(`the FSAs have more than ${maxTimes} Times: further FSAs follow the Time of the server`);
      return null;
    }
    const time = before.find((each) => each.url === url) ?? this.#newTime(url);
    times.set(url, time);
    return time;
  }

  #newTime(url: string): GroupClock {
    const { reader, deviceIndex, makePoll, rateOf, missed, warn, remoteClock, monotonicMs, timeStaleS } = this.#options;
    const group = new GroupTime({ remoteClock, monotonicMs, staleS: timeStaleS, warn });
    const poll = makePoll(async () => {
      const read = await reader.document('Time', { href: url }, deviceIndex);
      if (read.kind === 'found') {
        group.take({ time: read.value, middleMonotonicMs: read.middleMonotonicMs });
        return { rateS: rateOf(read.value.pollRate), remarks: read.remarks };
      }
      missed(read);
      return failure(read);
    });
    return { url, group, poll };
  }

  #addList(url: string, link: LinkTo): ProgramListWalk {
    const list = new ProgramListWalk({
      ...this.#options,
      warn: this.#warnOnce,
      link,
      url,
      aheadS: () => this.#groupsOf.get(url)?.[0]?.time?.group.aheadS ?? 0,
      lost: () => void this.poll.now(),
      changed: () => this.#report(),
    });
    this.#lists.set(url, list);
    return list;
  }

  /** Reports the programs once every list was tried: some of the programs alone could start the wrong event. */
  #report(): void {
    const lists = [...this.#lists];
    if (this.#stopped || this.#taking || !lists.every(([, { tried }]) => tried)) return;
    const programs = new Map<string, FoundProgram>();
    let room = maxEvents;
    for (const [url, { entries }] of lists) {
      const fsaUrls = (this.#groupsOf.get(url) ?? []).map((group) => group.url);
      for (const { listed, mrid, curves } of entries) {
        const program = programs.get(listed.key);
        if (program !== undefined) {
          programs.set(listed.key, { ...program, fsaUrls: [...program.fsaUrls, ...fsaUrls] });
          continue;
        }
        // the list is in order of start: its first controls are kept
        const controls = listed.controls?.slice(0, room);
        room -= controls?.length ?? 0;
        if (controls?.length !== listed.controls?.length)
          this.#warnOnce(`more than ${maxEvents} DERControls: the last ones are left out`);
        const isPartial = listed.isPartial === true || controls?.length !== listed.controls?.length;
        programs.set(listed.key, { listed: { ...listed, controls, isPartial }, mrid, curves, fsaUrls });
      }
    }
    this.#options.changed([...programs.values()]);
  }
}
