import { get } from '../../api/call';
import { Facts, Panel } from '../../kit/panel';
import { Unread } from '../../kit/states';
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

/** Ratings in words, and their points of model 702 without `Rtg`. */
const ratingNames: Readonly<Record<string, readonly [words: string, point: string]>> = {
  w_max_w: ['Active power', 'WMax'],
  w_ovr_ext_w: ['Active power, over-excited', 'WOvrExt'],
  w_ovr_ext_pf: ['Power factor at over-excited power', 'WOvrExtPF'],
  w_und_ext_w: ['Active power, under-excited', 'WUndExt'],
  w_und_ext_pf: ['Power factor at under-excited power', 'WUndExtPF'],
  va_max_va: ['Apparent power', 'VAMax'],
  var_max_inj_var: ['Reactive power, injected', 'VarMaxInj'],
  var_max_abs_var: ['Reactive power, absorbed', 'VarMaxAbs'],
  w_cha_rte_max_w: ['Charge limit', 'WChaRteMax'],
  w_dis_cha_rte_max_w: ['Discharge limit', 'WDisChaRteMax'],
  va_cha_rte_max_va: ['Apparent power, charging', 'VAChaRteMax'],
  va_dis_cha_rte_max_va: ['Apparent power, discharging', 'VADisChaRteMax'],
  v_nom_v: ['Nominal voltage', 'VNom'],
  v_max_v: ['Highest voltage', 'VMax'],
  v_min_v: ['Lowest voltage', 'VMin'],
  a_max_a: ['Current', 'AMax'],
  pf_ovr_ext: ['Power factor, over-excited', 'PFOvrExt'],
  pf_und_ext: ['Power factor, under-excited', 'PFUndExt'],
  react_suscept_s: ['Susceptance', 'ReactSuscept'],
};

const categories: Readonly<Record<string, string>> = {
  cat_a: 'Category A',
  cat_b: 'Category B',
  cat_1: 'Category I',
  cat_2: 'Category II',
  cat_3: 'Category III',
};

const modeWords: Readonly<Record<string, string>> = {
  max_w: 'active power limit',
  fixed_w: 'power set-point',
  fixed_var: 'constant reactive power',
  fixed_pf: 'power factor',
  volt_var: 'volt-var',
  freq_watt: 'frequency droop',
  watt_var: 'watt-var',
  volt_watt: 'volt-watt',
  lv_trip: 'low-voltage trip',
  hv_trip: 'high-voltage trip',
  lf_trip: 'low-frequency trip',
  hf_trip: 'high-frequency trip',
};

const categoryWords = (name: string | null) => (name === null ? dash : (categories[name] ?? words(name)));

/** Units by the suffix of a name, with their decimals; powers are in thousands. */
const units: Readonly<Record<string, readonly [unit: string, decimals: number, factor?: number]>> = {
  w: ['kW', 2, 1e-3],
  va: ['kVA', 2, 1e-3],
  var: ['kvar', 2, 1e-3],
  v: ['V', 1],
  a: ['A', 1],
  s: ['S', 3],
  pf: ['', 3],
};

/** Unit and decimals of a rating, and its value in that unit. */
function ratingOf(name: string, value?: number | null) {
  const [unit, decimals, factor = 1] = units[name.split('_').at(-1) ?? ''] ?? ['', 0];
  return { unit, decimals, value: value == null ? null : value * factor };
}

function number(of: number | null | undefined, name: string): string {
  const { value, decimals } = ratingOf(name, of);
  return fixed(value, decimals);
}

/** Ratings beside the settings of model 702, and identification of the device. */
function NameplatePanel({ device }: PageProps) {
  const { data, problem } = useLive(get('nameplate', { query: { device: device.device_index } }), 5000);
  if (data === undefined)
    return (
      <Panel title="Nameplate">
        <Unread problem={problem} heights={[240, 400]} />
      </Panel>
    );
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
            ['Categories', `${categoryWords(data.normal_category)}, ${categoryWords(data.abnormal_category)}`],
            ['Control modes', data.ctrl_modes.map((mode) => modeWords[mode] ?? words(mode)).join(', ') || dash],
            storage && ['Storage', `${fixed((storage.wh_rating_wh ?? Number.NaN) / 1000, 2)} kWh`],
            [
              'DC ports',
              data.dc_ports.map(({ index, type, name }) => `${name || (type ?? dash)} (port ${index})`).join(', ') ||
                dash,
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
              cell: ({ name }) => {
                const [text, point] = ratingNames[name] ?? [words(name), ''];
                return (
                  <>
                    {text} <small class="muted">{point}</small>
                  </>
                );
              },
              value: ({ name }) => name,
            },
            {
              title: 'Rated',
              cell: ({ name, rated }) => number(rated, name),
              value: ({ name, rated }) => ratingOf(name, rated).value,
              numeric: true,
            },
            {
              title: 'Setting',
              cell: ({ name, set }) => number(set, name),
              value: ({ name, set }) => ratingOf(name, set).value,
              numeric: true,
            },
            { title: 'Unit', value: ({ name }) => ratingOf(name).unit },
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
          dnp3?.address == null ? null : ['DNP3', `address ${dnp3.address}, port ${dnp3.port ?? dash}`],
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
    <div class="details">
      <Connection device={device} />
      <NameplatePanel device={device} />
      <KindFacts device={device} />
    </div>
  );
}
