/** Short forms: members of a step that stand for a request. The operation checks the value. */
import type { ScenarioRequest } from '../model.ts';

/** Device and connector of the step. */
export interface FormScope {
  /** absent: not named by the step */
  readonly device: number | undefined;
  readonly connector: number;
}

export interface ShortForm {
  readonly doc: string;
  /** operation whose body is the value, for the published schema; null: the value has its own form */
  readonly operation: string | null;
  /** @returns null: the value does not have the form in `expects` */
  requests(value: unknown, scope: FormScope): readonly ScenarioRequest[] | null;
  readonly expects?: string;
  /** translates a pointer into the request body to the pointer into the written value */
  keyOf?(pointer: readonly string[]): readonly string[];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const deviceQuery = ({ device }: FormScope) => (device === undefined ? {} : { query: { device } });

/** The value is the body of a POST with the query parameter `device`. */
function body(path: string, doc: string): ShortForm {
  return {
    doc,
    operation: `POST ${path}`,
    requests: (value, scope) => [{ method: 'POST', path, body: value, ...deviceQuery(scope) }],
  };
}

/** An operation of a connector; `true` means an empty body. */
function connector(action: string, doc: string): ShortForm {
  return {
    doc,
    operation: `POST /evse/{id}/connectors/{cid}/${action}`,
    requests: (value, { device = 0, connector: cid }) => [
      { method: 'POST', path: `/evse/${device}/connectors/${cid}/${action}`, body: value === true ? {} : value },
    ],
  };
}

export const shortForms: Readonly<Record<string, ShortForm>> = {
  grid: body('/controls/grid', 'Voltage, frequency and faults of the grid.'),
  event: {
    doc: 'A named event of the grid: its name, or its name with `parameters`.',
    operation: 'POST /controls/grid/event',
    requests: (value, scope) => [
      {
        method: 'POST',
        path: '/controls/grid/event',
        body: typeof value === 'string' ? { event: value } : value,
        ...deviceQuery(scope),
      },
    ],
  },
  environment: body('/controls/environment', 'Irradiance, temperature, wind and load.'),
  irradiance: {
    doc: 'Irradiance, W/m2; null follows the series again.',
    operation: null,
    requests: (value, scope) => [
      { method: 'POST', path: '/controls/environment', body: { irradiance_w_m2: value }, ...deviceQuery(scope) },
    ],
    keyOf: () => [],
  },
  site: body('/site', 'Limits of the connection point.'),
  registers: {
    doc: 'Points to be written, by model: `{704: {WMaxLimPct: 50}}`. Models are written one after the other.',
    operation: null,
    expects: 'a mapping of models to mappings of points to values, such as {704: {WMaxLimPct: 50}}',
    requests: (value, scope) =>
      isObject(value) && Object.keys(value).length > 0
        ? Object.entries(value).map(([model, points]) => ({
            method: 'POST',
            path: `/registers/${encodeURIComponent(model)}`,
            body: { points },
            ...deviceQuery(scope),
          }))
        : null,
    keyOf: ([first, ...rest]) => (first === 'points' ? rest : []),
  },
  hold: body('/controls/holds', 'A timed control: values of points for a limited time.'),
  gradient: body('/controls/gradient', 'Slopes of set-points.'),
  local: {
    doc: 'Local (true) or remote (false) control of the device.',
    operation: null,
    requests: (value, scope) => [
      { method: 'POST', path: '/controls/local', body: { local: value }, ...deviceQuery(scope) },
    ],
    keyOf: () => [],
  },
  grid_support: body('/grid-support', 'Functions of the inverter: curves, limits, trips.'),
  command: {
    doc: 'Operator command: start, stop or reset.',
    operation: null,
    requests: (value, { device = 0 }) => [
      { method: 'POST', path: '/commands', body: isObject(value) ? { device, ...value } : { command: value, device } },
    ],
    keyOf: ([first = '', ...rest]) => (first === 'command' ? [] : [first, ...rest]),
  },
  battery: body('/controls/battery', 'Forced charge or discharge of a battery.'),
  wind: body('/wind/override', 'Wind speed in place of the series.'),
  dispatch: body('/hybrid-dc/dispatch', 'Policy of a DC-coupled hybrid.'),
  fault: {
    doc: 'A fault, or a list of faults, of any protocol.',
    operation: null,
    requests: (value, { device }) => {
      const items = (Array.isArray(value) ? value : [value]) as unknown[];
      const inject = items.map((fault) =>
        device === undefined || !isObject(fault) || 'device' in fault ? fault : { ...fault, device },
      );
      return [{ method: 'POST', path: '/faults', body: { inject } }];
    },
    keyOf: ([first, , ...rest]) => (first === 'inject' ? rest : []),
  },
  clear_faults: {
    doc: '`true` ends every injected fault.',
    operation: null,
    expects: 'true',
    requests: (value) => (value === true ? [{ method: 'POST', path: '/faults', body: { clear: true } }] : null),
  },
  plug: connector('plug', 'Plugs a vehicle in; `true`: the vehicle of the profile.'),
  unplug: connector('unplug', 'Unplugs the vehicle.'),
  authorize: connector('authorize', 'Presents a token.'),
  start_charging: connector('start', 'Starts a session.'),
  stop_charging: connector('stop', 'Ends the session.'),
  charge_limit: connector('limit', 'Limit of the connector.'),
  discharge: connector('discharge', 'Power from the vehicle into the grid.'),
};
