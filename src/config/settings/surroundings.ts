/** Settings of the surroundings: series, sky and grid. */
import { kindsWhere } from '../../contract/kinds/table.ts';
import { setting, unset } from './setting.ts';
import { choice, path } from './value-kinds.ts';

export const surroundingsSettings = {
  dc_profile: unset({
    flags: ['-dc_p', '--dc_profile'],
    kind: path,
    mustExist: true,
    kinds: kindsWhere(({ dcSeries }) => dcSeries !== null),
    doc: 'CSV series for the DC side: irradiance or wind. If not given: the bundled series of the kind.',
  }),
  load_profile: unset({
    flags: ['--load_profile'],
    kind: path,
    mustExist: true,
    doc: 'CSV series of the local load of each device: time_s, load_kw.',
  }),
  vehicles: unset({
    flags: ['--vehicles'],
    kind: path,
    mustExist: true,
    kinds: ['evse'],
    doc: 'CSV table of the vehicles that arrive at an EVSE.',
  }),
  series_end: setting({
    flags: ['--series_end'],
    kind: choice(['loop', 'hold'], 'END'),
    default: 'loop',
    doc:
      'After the last row of dc_profile, load_profile and vehicles: loop starts again at the first, hold ' +
      'keeps the last values and brings no more vehicles.',
  }),
  irradiance_source: setting({
    flags: ['--irradiance_source'],
    kind: choice(['csv', 'clear_sky'], 'SOURCE'),
    default: 'csv',
    doc: 'Source of the irradiance at start: the CSV series, or a clear sky with clouds, whose air temperature follows the date.',
  }),
  clouds: setting({
    flags: ['--clouds'],
    kind: choice(['clear', 'scattered', 'broken', 'overcast'], 'SKY'),
    default: 'scattered',
    doc: 'Clouds of the irradiance source clear_sky; without effect while the source is csv.',
  }),
  grid_profile: unset({
    flags: ['--grid_profile'],
    kind: path,
    mustExist: true,
    doc:
      'CSV series of the grid: time_s, frequency_hz, voltage_pu (or voltage_a_pu, voltage_b_pu, ' +
      'voltage_c_pu) and optionally phase_angle_deg.',
  }),
};
