/** Settings of what surrounds the devices: series, sky and grid. */
import { kindsWhere } from '../../contract/kinds/table.ts';
import { setting, unset } from './setting.ts';
import { choice, path } from './value-kinds.ts';

export const surroundingsSettings = {
  dc_profile: unset({
    flags: ['-dc_p', '--dc_profile'],
    kind: path,
    mustExist: true,
    kinds: kindsWhere(({ dcSeries }) => dcSeries !== null),
    doc: 'CSV series for the DC side: irradiance or wind. Without it the bundled series of the type.',
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
    doc: 'CSV table of the vehicles that come to an EVSE.',
  }),
  series_end: setting({
    flags: ['--series_end'],
    kind: choice(['loop', 'hold'], 'END'),
    default: 'loop',
    doc: 'What follows the last row of dc_profile, load_profile and vehicles: the first one again, or nothing new.',
  }),
  irradiance_source: setting({
    flags: ['--irradiance_source'],
    kind: choice(['csv', 'clear_sky'], 'SOURCE'),
    default: 'csv',
    doc: 'Where the irradiance comes from at start: the CSV series, or the clear sky with clouds.',
  }),
  clouds: setting({
    flags: ['--clouds'],
    kind: choice(['clear', 'scattered', 'broken', 'overcast'], 'SKY'),
    default: 'scattered',
    doc: 'Clouds of the clear_sky source.',
  }),
  grid_profile: unset({
    flags: ['--grid_profile'],
    kind: path,
    mustExist: true,
    doc: 'CSV series of the grid: time_s, frequency_hz, voltage_pu (or voltage_a_pu, voltage_b_pu, voltage_c_pu); phase_angle_deg may follow.',
  }),
};
