import { anyCall, get } from '../../api/call';
import { Form } from '../../kit/form';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash } from '../../look/format';
import { useLive } from '../../store/live';
import { param, setParam } from '../../store/route';
import type { PartProps } from './types';

interface Entry {
  readonly name: string;
  readonly value: string | null;
  readonly access: string;
  readonly reboots: boolean;
  /** members of a change besides the value */
  readonly target: Readonly<Record<string, unknown>>;
}

/** Keys of 1.6 or variables of 2.x, with search and change. */
export function Configuration({ status }: PartProps) {
  const { data } = useLive(get('ocpp/{id}/configuration', { params: { id: status.id } }), 5000);
  const keys = (data?.keys ?? []).map(
    ({ key, value, readonly, reboot_required: reboots }): Entry => ({
      name: key,
      value,
      access: readonly ? 'read only' : 'read and write',
      reboots,
      target: { key },
    }),
  );
  const variables = (data?.variables ?? []).map((each): Entry => {
    const { component, variable, attribute, evse_id, connector_id, instance } = each;
    const optional = Object.entries({ evse_id, connector_id, instance }).filter(([, value]) => value !== null);
    const place = optional.map(([name, value]) => `${name} ${String(value)}`).join(', ');
    return {
      name: `${component}.${variable}${attribute === 'Actual' ? '' : ` ${attribute}`}${place === '' ? '' : ` (${place})`}`,
      value: each.value,
      access: each.mutability,
      reboots: each.reboot_required,
      target: { component, variable, attribute, ...Object.fromEntries(optional) },
    };
  });
  const all = [...keys, ...variables];
  const wanted = (param('key-find') ?? '').toLowerCase();
  const shown = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  const open = all.find(({ name }) => name === param('key'));
  const path = `ocpp/${encodeURIComponent(status.id)}/configuration`;
  return (
    <>
      {open && (
        <Panel title={`Change ${open.name}`} wide>
          <Form
            key={`${open.name} ${open.value ?? ''}`}
            fields={[{ kind: 'text', name: 'value', label: 'Value', value: open.value ?? '' }]}
            submit="Change"
            call={({ value }) => anyCall('POST', path, {}, { ...open.target, value: String(value ?? '') })}
          />
        </Panel>
      )}
      <Panel
        title="Configuration"
        flush
        wide
        tools={
          <input
            type="search"
            aria-label="Find in the configuration"
            placeholder="Find"
            value={param('key-find') ?? ''}
            onInput={(event) => setParam('key-find', event.currentTarget.value)}
          />
        }
      >
        <Table
          name="Configuration"
          rows={shown}
          keyOf={({ name }) => name}
          height={480}
          selected={open?.name ?? null}
          empty="No entry has such a name."
          columns={[
            {
              title: 'Name',
              cell: ({ name }) => (
                <button type="button" class="quiet" onClick={() => setParam('key', name === open?.name ? null : name)}>
                  {name}
                </button>
              ),
              value: ({ name }) => name,
            },
            { title: 'Value', cell: ({ value }) => value ?? dash, value: ({ value }) => value },
            { title: 'Access', cell: ({ access }) => access, value: ({ access }) => access },
            {
              title: 'Needs a reboot',
              cell: ({ reboots }) => (reboots ? 'yes' : 'no'),
              value: ({ reboots }) => reboots,
            },
          ]}
        />
      </Panel>
    </>
  );
}
