/** The outstation of a battery with one master. */
import type { ReplyOf } from '../common/members.ts';
import { exampleTime } from '../common/schemas.ts';
import type { deviceProfile, messages, outstation, pointList } from './members.ts';

export const exampleStatus: ReplyOf<typeof outstation> = {
  enabled: true,
  device_index: 0,
  link: { endpoint: 'tcp://127.0.0.1:20000', listening: true, outstation: 1, connections: 1 },
  profile: 'an2018',
  masters: [
    {
      address: 4,
      connected: true,
      peer: '127.0.0.1:50123',
      certificate: null,
      connected_since: exampleTime,
      last_request_at: exampleTime,
      iin: ['class_2_events'],
      events: { class_1: 0, class_2: 3, class_3: 0 },
      overflow: false,
      unsolicited: { configured: false, null_confirmed: false, classes: [] },
      select_pending: false,
      clock_offset_s: 0.2,
    },
  ],
  points: {
    BI: { served: 86, absent: 31 },
    BO: { served: 30, absent: 20 },
    AI: { served: 330, absent: 454 },
    AO: { served: 260, absent: 410 },
    CTR: { served: 4, absent: 0 },
  },
  event_capacity: 500,
};

export const examplePoints: ReplyOf<typeof pointList> = {
  enabled: true,
  device_index: 0,
  points: [
    {
      type: 'AI',
      index: 149,
      name: 'Active power limit generation set-point',
      coverage: 'served',
      bound_to: '704.WMaxLimPct',
      value: 500,
      flags: 1,
      online: true,
      engineering_value: 50,
      unit: '%',
      multiplier: 0.1,
      class: 2,
      deadband: 0,
      min: 0,
      max: 1000,
      read_back: null,
      iec61850: 'DWMN.WLimPct',
    },
  ],
};

export const exampleMessages: ReplyOf<typeof messages> = {
  enabled: true,
  messages: [
    {
      id: 1,
      timestamp: exampleTime,
      direction: 'in',
      device_index: 0,
      peer: '4@127.0.0.1:50123',
      function: 'read',
      sequence: 0,
      iin: null,
      objects: ['g60v2 all', 'g60v3 all', 'g60v4 all', 'g60v1 all'],
      hex: 'c0013c02063c03063c04063c0106',
      truncated: false,
    },
  ],
};

export const exampleProfile: ReplyOf<typeof deviceProfile> = {
  enabled: true,
  device_index: 0,
  document: '<?xml version="1.0" encoding="UTF-8"?><DNP3DeviceProfileDocument/>',
};
