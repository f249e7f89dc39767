/** Charge points of OCPP, all together: a label per station would be too many series in a fleet. */
import { ocppConnectionStates, ocppFindingKinds } from '../../contract/ocpp.ts';
import type { OcppCounters } from '../../contract/ocpp.ts';
import type { Family, MetricsView, Sample } from './family.ts';
import { single } from './family.ts';

type Count = { readonly [K in keyof OcppCounters]: OcppCounters[K] extends number ? K : never }[keyof OcppCounters];

const totals = ({ ctx }: MetricsView) => ctx.ocpp.totals;

const counter = (name: string, help: string, member: Count): Family =>
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
    help: 'What central systems did against the specification.',
    labels: ['kind'],
    samples: (view) =>
      view.ctx.ocpp.enabled ? ocppFindingKinds.map((kind) => [totals(view).findings[kind], kind] as const) : [],
  },
  counter('connects', 'Connections to central systems that were opened.', 'connects'),
  counter('drops', 'Connections to central systems that broke.', 'drops'),
  counter('call_errors', 'CALLERRORs that central systems have answered with.', 'callErrors'),
  counter('timeouts', 'Calls that no central system has answered in time.', 'timeouts'),
  counter('dropped_meter_values', 'In-between meter values that full queues have cost.', 'droppedMeterValues'),
];
