/** The form that starts a scenario with parameters, at a pace, here or beside. */
import { useEffect, useState } from 'preact/hooks';
import { post } from '../../../api/call';
import type { Call } from '../../../api/call';
import { Refused, useDo } from '../../../kit/action';
import { Form } from '../../../kit/form';
import type { Field, Value, Values } from '../../../kit/form';
import { Dialog } from '../../../kit/panel';
import { Loading } from '../../../kit/states';
import { go } from '../../../store/route';
import { useClock } from '../../../store/site';
import type { Course } from '../words';
import { openRunOf } from './starting';
import type { Startable } from './starting';

const prefix = 'parameters/';

function fieldOf([parameter, value]: readonly [string, Value]): Field {
  const base = { name: `${prefix}${parameter}`, label: parameter };
  if (typeof value === 'number') return { ...base, kind: 'number', value };
  if (typeof value === 'boolean') return { ...base, kind: 'check', value };
  return { ...base, kind: 'text', value: value ?? '' };
}

function startOf({ pace, ...values }: Values) {
  const parameters = Object.entries(values)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), value] as const);
  return {
    pace: pace === 'fast' ? ('fast' as const) : ('real' as const),
    ...(parameters.length > 0 && { parameters: Object.fromEntries(parameters) }),
  };
}

interface ParameterFormProps {
  readonly scenario: Startable;
  readonly parameters: Course['parameters'];
  /** reason why it cannot run on this simulator; null: it can */
  readonly unableHere: string | null;
  readonly onStart: () => void;
}

/** A kept scenario can start here, one to add beside. */
function ParameterForm({ scenario, parameters, unableHere, onStart }: ParameterFormProps) {
  const { addition, keptId } = scenario;
  const isPaused = useClock()?.mode === 'paused';
  const canBeHere = keptId !== null && unableHere === null;
  const places = [
    ...(canBeHere ? [['here', 'on this simulator'] as const] : []),
    ...(addition === null ? [] : [['beside', 'beside, on a simulator of its own'] as const]),
  ];
  const fields: readonly Field[] = [
    { kind: 'choice', name: 'place', label: 'Where', options: places, value: places[0]?.[0] ?? '' },
    {
      kind: 'choice',
      name: 'pace',
      label: 'Pace',
      options: [
        ['fast', 'as fast as possible'],
        ['real', 'at the rate of the clock'],
      ],
      value: canBeHere && !isPaused ? 'real' : 'fast',
    },
    ...Object.entries(parameters).map(fieldOf),
  ];
  const call = ({ place, ...values }: Values) =>
    place === 'here' && keptId !== null
      ? post('scenarios/{id}/start', { params: { id: keptId }, body: startOf(values) })
      : post('scenario-runs', { body: { ...addition, ...startOf(values) } });
  return (
    <Form
      fields={fields}
      call={call}
      submit="Run"
      unable={places.length === 0 ? unableHere : null}
      onDone={(answer) => {
        onStart();
        const { id, beside } = answer as { readonly id: string; readonly beside?: boolean };
        if (beside === undefined) void openRunOf(id);
        else go(`scenarios/runs/${id}`);
      }}
    />
  );
}

interface DialogProps {
  readonly scenario: Startable;
  /** null: the daemon is asked, which adds a scenario that fits, so that it can start here */
  readonly parameters: Course['parameters'] | null;
  readonly unableHere: string | null;
  readonly onClose: () => void;
}

type Answer = { readonly id?: string; readonly parameters: Course['parameters'] };

/** Asks for the parameters of a scenario, and starts it. */
export function ParametersDialog({ scenario, parameters, unableHere, onClose }: DialogProps) {
  const { addition } = scenario;
  const { problem, run, answer } = useAnswer();
  useEffect(() => {
    if (parameters !== null || addition === null) return;
    void run(unableHere === null ? post('scenarios', { body: addition }) : post('scenarios/check', { body: addition }));
  }, []);
  const shown = parameters ?? answer?.parameters;
  return (
    <Dialog title={`Run ${scenario.title}`} onClose={onClose}>
      <Refused problem={problem} />
      {shown === undefined && problem === null && <Loading heights={[80]} />}
      {shown !== undefined && (
        <ParameterForm
          scenario={{ ...scenario, keptId: scenario.keptId ?? answer?.id ?? null }}
          parameters={shown}
          unableHere={unableHere}
          onStart={onClose}
        />
      )}
    </Dialog>
  );
}

function useAnswer() {
  const { problem, run } = useDo();
  const [answer, setAnswer] = useState<Answer>();
  return {
    problem,
    answer,
    run: async (call: Call) => setAnswer((await run(call)) as Answer | undefined),
  };
}
