import { get } from '../../api/call';
import { Facts, Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, fixed, words } from '../../look/format';
import { useLive } from '../../store/live';
import { CopyButton } from '../../kit/copies';
import { KindFacts } from './kind-facts';
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

/** Addresses of the device, for the other side. */
function Connection({ device }: PageProps) {
  const { modbus, charge_point_id: station, device_index: index } = device;
  const dnp3 = useLive(get('devices/{index}', { params: { index } }), 5000).data?.dnp3;
  const address = modbus && `${modbus.host}:${modbus.port}`;
  return (
    <Panel title="Connection">
      <Facts
        rows={[
          [
            'Modbus TCP',
            modbus === null || address === null ? (
              'not served over TCP'
            ) : (
              <span class="row">
                <span>
                  {address}, unit {modbus.unit_id}
                  {modbus.tls ? ', TLS' : ''}
                </span>
                <CopyButton text={address} name="address" />
              </span>
            ),
          ],
          dnp3 ? ['DNP3', `address ${dnp3.address ?? dash}, port ${dnp3.port ?? dash}`] : null,
          station === null
            ? null
            : [
                'Charge point',
                <span class="row">
                  <span>{station}</span>
                  <CopyButton text={station} name="identity" />
                </span>,
              ],
          ['Service', `${device.status.service_state}, ${words(device.status.connection_state)}`],
        ]}
      />
    </Panel>
  );
}

/** Connection, nameplate, ratings beside settings, and what the kind has. */
export function Details({ device }: PageProps) {
  return (
    <div class="grid">
      <Connection device={device} />
      <KindFacts device={device} />
      <NameplatePanel device={device} />
    </div>
  );
}
