import { anyCall } from '../../api/call';
import { Form } from '../../kit/form';
import type { Field, Values } from '../../kit/form';
import { words } from '../../look/format';
import { pathOf } from './functions';
import type { Settings } from './functions';

const readOnly = new Set(
  (
    'supported enabled source changed_at reversion_remaining_s v_ref_auto_pct max_points curve_count curve_index ' +
    'adopt_result delay_remaining_s device_index'
  ).split(' '),
);

const varReferences = ['w_max_pct', 'var_max_pct', 'var_aval_pct', 'va_max_pct'];
const choices: Readonly<Record<string, readonly string[]>> = {
  'volt_var.dept_ref': varReferences,
  'watt_var.dept_ref': varReferences,
  'volt_watt.dept_ref': ['w_max_pct', 'w_aval_pct'],
  'volt_var.priority': ['active', 'reactive', 'vendor'],
  'constant_var.priority': ['active', 'reactive', 'vendor'],
  'watt_var.priority': ['active', 'reactive'],
  'constant_var.mode': ['w_max_pct', 'var_max_pct', 'var_avail_pct', 'va_max_pct', 'vars'],
  'active_power.mode': ['w_max_pct', 'watts'],
  'pf.excitation': ['over_excited', 'under_excited'],
  'ramp.w_ramp_ref': ['a_max', 'w_max'],
};

const units: readonly (readonly [RegExp, string])[] = [
  [/_pct_s$/, '%/s'],
  [/_pct$/, '%'],
  [/_kvar$/, 'kvar'],
  [/_kw$/, 'kW'],
  [/_hz$/, 'Hz'],
  [/_s$/, 's'],
];

function fieldOf(name: string, member: string, value: unknown): Field | null {
  if (readOnly.has(member)) return null;
  const [ending, unit] = units.find(([pattern]) => pattern.test(member)) ?? [/$/, undefined];
  const label = words(member.replace(ending, ''));
  if (typeof value === 'number')
    return { kind: 'number', name: member, label, value, ...(unit !== undefined && { unit }) };
  if (typeof value === 'boolean') return { kind: 'check', name: member, label, value };
  const options = choices[`${name}.${member}`];
  return typeof value === 'string' && options ? { kind: 'choice', name: member, label, value, options } : null;
}

interface ValuesFormProps {
  readonly device: number;
  readonly name: string;
  readonly settings: Settings;
  /** member of the function that the values belong to, such as `absorb` */
  readonly within?: string;
}

/** The values of a function that are no curve; only those that were changed are sent. */
export function ValuesForm({ device, name, settings, within }: ValuesFormProps) {
  const fields = Object.entries(settings)
    .map(([member, value]) => fieldOf(name, member, value))
    .filter((field) => field !== null);
  if (fields.length === 0) return <p class="muted">This function has no values besides its switch.</p>;
  const start = Object.fromEntries(fields.map(({ name: member }) => [member, settings[member]]));
  const changed = (values: Values) => {
    const body = Object.fromEntries(Object.entries(values).filter(([member, value]) => value !== start[member]));
    return within === undefined ? body : { [within]: body };
  };
  return (
    <Form
      key={`${device} ${name} ${within ?? ''}`}
      needsChange
      fields={fields}
      submit="Apply values"
      call={(values) => anyCall('POST', `grid-support/${pathOf(name)}`, { device }, changed(values))}
    />
  );
}
