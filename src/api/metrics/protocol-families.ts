/** Metric families of protocols, each over all peers: a label per station would be too many series in a fleet. */
import { ocppConnectionStates, ocppFindingKinds } from '../../contract/ocpp.ts';
import type { OcppCounters } from '../../contract/ocpp.ts';
import { single } from './family.ts';
import type { Family, MetricsView, Sample } from './family.ts';
import type { Dnp3Counters } from '../../contract/dnp3.ts';
import { severities } from '../../core/findings/rule.ts';

type Count = { readonly [K in keyof OcppCounters]: OcppCounters[K] extends number ? K : never }[keyof OcppCounters];

const totals = ({ ctx }: MetricsView) => ctx.ocpp.totals;

const ocppCounter = (name: string, help: string, member: Count): Family =>
  single('counter', `derbench_ocpp_${name}_total`, help, (view) => totals(view)[member]);

export const ocppFamilies: readonly Family[] = [
  {
    type: 'gauge',
    name: 'derbench_ocpp_charge_points',
    help: 'Charge points by the state of their connection.',
    labels: ['state'],
    samples: ({ ctx: { ocpp } }) =>
      ocpp.enabled
        ? ocppConnectionStates.map(
            (state) => [ocpp.list.filter(({ status }) => status.connectionState === state).length, state] as const,
          )
        : [],
  },
  {
    type: 'counter',
    name: 'derbench_ocpp_messages_total',
    help: 'Frames of OCPP by direction and type.',
    labels: ['direction', 'type'],
    samples: (view) => totals(view).messages.map(({ direction, type, count }): Sample => [count, direction, type]),
  },
  {
    type: 'counter',
    name: 'derbench_ocpp_findings_total',
    help: 'Violations of the specification by central systems.',
    labels: ['kind'],
    samples: (view) =>
      view.ctx.ocpp.enabled ? ocppFindingKinds.map((kind) => [totals(view).findings[kind], kind] as const) : [],
  },
  ocppCounter('connects', 'Connections to central systems that were opened.', 'connects'),
  ocppCounter('drops', 'Connections to central systems that broke.', 'drops'),
  ocppCounter('call_errors', 'CALLERRORs received from central systems.', 'callErrors'),
  ocppCounter('timeouts', 'Calls that central systems did not answer in time.', 'timeouts'),
  ocppCounter(
    'dropped_meter_values',
    'Intermediate meter values dropped because a queue was full.',
    'droppedMeterValues',
  ),
];

const dnp3Counter = (name: string, help: string, member: keyof Dnp3Counters): Family =>
  single('counter', `derbench_dnp3_${name}_total`, help, ({ ctx }) => ctx.dnp3.totals[member]);

export const dnp3Families: readonly Family[] = [
  dnp3Counter('connections', 'Connections of masters that were accepted.', 'connections'),
  dnp3Counter('refused_connections', 'Connections of masters that were refused.', 'refusedConnections'),
  dnp3Counter('handshake_failures', 'TLS handshakes of masters that failed.', 'handshakeFailures'),
  dnp3Counter('frames_in', 'Link frames received from masters.', 'framesIn'),
  dnp3Counter('frames_out', 'Link frames sent to masters.', 'framesOut'),
  dnp3Counter('bad_frames', 'Link frames dropped for a wrong checksum or length.', 'badFrames'),
  dnp3Counter('requests', 'Requests of masters.', 'requests'),
  dnp3Counter('responses', 'Fragments of responses.', 'responses'),
  dnp3Counter('unsolicited', 'Unsolicited responses.', 'unsolicited'),
  dnp3Counter('refusals', 'Requests answered with a bit of IIN2.', 'refusals'),
  dnp3Counter('controls_done', 'Controls that were carried out.', 'controlsDone'),
  dnp3Counter('controls_refused', 'Controls that were refused.', 'controlsRefused'),
  dnp3Counter('events', 'Events, counted for each master.', 'events'),
  dnp3Counter('events_lost', 'Events lost because a buffer was full.', 'eventsLost'),
  dnp3Counter('confirm_timeouts', 'Confirms that did not arrive in time.', 'confirmTimeouts'),
];

/** Rules that are broken now, waived ones among them, by protocol and severity, summed over the peers. */
function brokenRules({ ctx: { findings } }: MetricsView): readonly Sample[] {
  const counts = new Map<string, number>();
  for (const { cells } of findings.peers.valid)
    for (const { number, protocol, severity } of findings.list)
      if ((cells[number]?.broken ?? 0) > 0)
        counts.set(`${protocol} ${severity}`, (counts.get(`${protocol} ${severity}`) ?? 0) + 1);
  return [...counts].map(([key, count]) => [count, ...key.split(' ')] as const);
}

export const findingFamilies: readonly Family[] = [
  {
    type: 'counter',
    name: 'derbench_findings_total',
    help: 'Cases in which peers broke rules, without repetitions and excused ones.',
    labels: ['protocol', 'severity'],
    samples: ({ ctx: { findings } }) =>
      [...findings.totals.findings].flatMap(([protocol, counts]) =>
        severities.map((severity): Sample => [counts[severity], protocol, severity]),
      ),
  },
  {
    type: 'counter',
    name: 'derbench_findings_excused_total',
    help: 'Cases that do not count, because a fault or a stall of this process can have caused them.',
    labels: ['protocol'],
    samples: ({ ctx: { findings } }) =>
      [...findings.totals.excused].map(([protocol, count]): Sample => [count, protocol]),
  },
  {
    type: 'gauge',
    name: 'derbench_findings_rules_broken',
    help: 'Rules that are broken, summed over the peers.',
    labels: ['protocol', 'severity'],
    samples: brokenRules,
  },
  single(
    'counter',
    'derbench_findings_dropped_total',
    'Waits for peers that were not begun, because too many were pending.',
    ({ ctx: { findings } }) => findings.dropped,
  ),
];
