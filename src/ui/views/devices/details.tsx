import { get } from '../../api/call';
import { Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, fixed, words } from '../../look/format';
import { useLive } from '../../store/live';
import { LocalPanel } from './local';
import type { PageProps } from './page';

interface Rating {
  readonly name: string;
  readonly rated: number | null;
  readonly set: number | null | undefined;
}

/** Unit by the suffix of a name. */
function unitOf(name: string): string {
  const end = name.split('_').at(-1);
  return { w: 'W', va: 'VA', var: 'var', v: 'V', a: 'A', s: 'S' }[end ?? ''] ?? '';
}

function number(value: number | null | undefined, name: string): string {
  return fixed(value, /_(pf|s)$/.test(name) ? 3 : /_(a|v)$/.test(name) ? 1 : 0);
}

/** Ratings beside the settings of model 702, and identification of the device. */
function NameplatePanel({ device }: PageProps) {
  const { data } = useLive(get('nameplate', { query: { device: device.device_index } }), 5000);
  if (data === undefined) return null;
  const settings: Readonly<Record<string, number | null>> = data.settings;
  const rows: readonly Rating[] = Object.entries<number | null>(data.ratings).map(([name, rated]) => ({
    name,
    rated,
    set: settings[name],
  }));
  const { identity, storage } = data;
  return (
    <>
      <Panel title="Nameplate">
        <Facts
          rows={[
            ['Manufacturer', identity.manufacturer ?? dash],
            ['Model', identity.model ?? dash],
            ['Version', identity.version ?? dash],
            ['Serial number', identity.serial_number ?? dash],
            ['AC type', words(data.ac_type)],
            ['Categories', `${words(data.normal_category)}, ${words(data.abnormal_category)}`],
            ['Control modes', data.ctrl_modes.map(words).join(', ') || dash],
            storage && ['Storage', `${fixed((storage.wh_rating_wh ?? Number.NaN) / 1000, 2)} kWh`],
            [
              'DC ports',
              data.dc_ports
                .map(({ index, type, name }) => `${index} ${type ?? dash}${name ? ` ${name}` : ''}`)
                .join(', ') || dash,
            ],
            ['SunSpec models', data.models.map(({ id, place }) => place ?? id).join(', ')],
          ]}
        />
      </Panel>
      <Panel title="Ratings and settings" flush>
        <Table
          name="Ratings and settings"
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            {
              title: 'Name',
              cell: ({ name }) => name.replace(/_(w|va|var|v|a|s)$/, '').replaceAll('_', ' '),
              value: ({ name }) => name,
            },
            {
              title: 'Rated',
              cell: ({ name, rated }) => number(rated, name),
              value: ({ rated }) => rated,
              numeric: true,
            },
            { title: 'Setting', cell: ({ name, set }) => number(set, name), value: ({ set }) => set, numeric: true },
            { title: 'Unit', value: ({ name }) => unitOf(name) },
          ]}
        />
      </Panel>
    </>
  );
}

/** Nameplate, ratings beside settings, and the switch on the front of the device. */
export function Details({ device }: PageProps) {
  return (
    <div class="grid">
      <NameplatePanel device={device} />
      <LocalPanel device={device.device_index} />
    </div>
  );
}
