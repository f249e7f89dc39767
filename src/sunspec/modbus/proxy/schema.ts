/** The file format of a proxy map: the register table of another manufacturer, in front of the SunSpec map. */
import { z } from 'zod';
import { maxUnitId } from '../../../contract/modbus-report.ts';

export const registerTypes = [
  'uint16',
  'int16',
  'uint32',
  'int32',
  'uint64',
  'int64',
  'float32',
  'float64',
  'bitfield16',
  'bitfield32',
  'string',
] as const;
export type RegisterType = (typeof registerTypes)[number];

const order = z.enum(['big', 'little']);
/** `705.Crv[0].Pt[1].V` */
const pointName = z
  .string()
  .max(80)
  .regex(/^\d{1,5}(:\d{1,2})?(\.[A-Za-z]\w*(\[\d{1,3}\])?)+$/, 'must name a point, as 701.W or 705.Crv[0].Pt[1].V')
  .meta({
    description: 'Model and path of a point, as GET registers names it.',
    examples: ['701.W', '704.WMaxLimPct', '705.Crv[0].Pt[1].V'],
  });
const registerNumber = z.string().regex(/^(0x[0-9a-f]{1,8}|\d{1,10})$/i, 'a number, decimal or hexadecimal (0x)');
const bitNumber = z.string().regex(/^([12]?\d|3[01])$/, 'a bit number from 0 to 31');
const symbol = z.string().min(1).max(80);
const value = z.union([z.number(), symbol]);
const assignments = z.record(pointName, value);
const raw = z.int();

const registerSchema = z.strictObject({
  address: z
    .int()
    .min(0)
    .max(65_535)
    .meta({
      description: 'Address of the first register as in the request (0-based), not the 4xxxx of manuals.',
      examples: [0, 100],
    }),
  type: z.enum(registerTypes).meta({ description: 'Form of the value. 64-bit integers are exact up to 2^53.' }),
  size: z
    .int()
    .min(1)
    .max(123)
    .optional()
    .meta({ description: 'Registers of a string, two octets each; required for a string, and for no other type.' }),
  table: z
    .enum(['holding', 'input', 'both'])
    .optional()
    .meta({
      description:
        'Holding registers (function 3), input registers (function 4), or both; default holding. ' +
        'Input registers cannot be written.',
    }),
  name: z.string().min(1).max(80).meta({ description: 'Name of the value, unique in the map.' }),
  description: z.string().max(500).optional().meta({ description: 'Meaning of the value, for documentation.' }),
  unit: z.string().max(20).optional().meta({ description: 'Unit of the scaled value, for documentation.' }),
  access: z
    .enum(['r', 'rw'])
    .optional()
    .meta({ description: 'Default r; rw for commands, and for a register that keeps what is written.' }),
  point: pointName.optional(),
  sum: z
    .array(pointName)
    .min(2)
    .max(16)
    .optional()
    .meta({ description: 'Points that are added up; points that the device does not have add nothing. Read only.' }),
  constant: z
    .union([raw, z.string().max(246)])
    .optional()
    .meta({
      description:
        'A value that never changes, as it stands in the register. With access rw, writes are acknowledged and ignored.',
    }),
  keeps: z
    .union([z.number(), z.string().max(246)])
    .optional()
    .meta({
      description:
        'Value at the start, as it stands in the register, of a register that stands for no point: it keeps ' +
        'what is written, until the device is reset.',
    }),
  commands: z
    .record(registerNumber, assignments)
    .optional()
    .meta({
      description:
        'The points that a write of each number sets, all at once. A read gives the first number whose points all ' +
        'have their values, else the number in otherwise.',
    }),
  scale: z
    .number()
    .refine((factor) => factor !== 0, 'must not be 0')
    .optional()
    .meta({
      description: 'Value of the point per step of the register: 0.1 for tenths, -1 for the other sign; default 1.',
    }),
  offset: z.number().optional().meta({ description: 'Value of the point where the register is 0; default 0.' }),
  values: z
    .record(registerNumber, symbol)
    .optional()
    .meta({
      description:
        'Number in the register to symbol of the enumeration. Where several numbers have one symbol, the ' +
        'lowest is read. With keeps: the numbers that may be written, with their meaning.',
    }),
  bits: z
    .record(bitNumber, z.union([symbol, z.array(symbol).min(1).max(32)]))
    .optional()
    .meta({ description: 'Bit of the register to the bits of the point, any of which sets it. Read only.' }),
  otherwise: raw.optional().meta({
    description:
      'Number for a symbol that values does not list, or for a state that commands does not list (there default 0).',
  }),
  absent: z
    .union([z.enum(['sentinel', 'zero', 'refuse']), raw])
    .optional()
    .meta({
      description:
        'Answer to a read where the device does not have the point: the reserved value of the type (0x8000, ' +
        '0xFFFF, NaN and so on, which then is no value), 0, exception 2, or this number. Default that of the map.',
    }),
  min: z.number().optional().meta({
    description:
      'Minimum value that may be written, in the unit of the point; with keeps as it stands in the register.',
  }),
  max: z.number().optional().meta({
    description:
      'Maximum value that may be written, in the unit of the point; with keeps as it stands in the register.',
  }),
  also: assignments.optional().meta({
    description: 'Further points that each write sets, unless the same write gives them another value.',
    examples: [{ '704.WMaxLimPctEna': 'ENABLED' }],
  }),
  watchdog_s: z
    .number()
    .min(0.1)
    .max(1e6)
    .optional()
    .meta({ description: 'Heartbeat: simulated seconds without a write of this register after which lost is set.' }),
  lost: assignments.optional().meta({
    description: 'Points and values that are set once when the heartbeat of this register is missing.',
    examples: [{ '704.WSetEna': 'DISABLED' }],
  }),
  byte_order: order.optional().meta({ description: 'Order of the octets in a register; default that of the map.' }),
  word_order: order.optional().meta({ description: 'Order of the registers of a number; default that of the map.' }),
  write_word_order: order
    .optional()
    .meta({ description: 'Order of the registers of a number in a write; default that of the map, else word_order.' }),
});

export const proxyMapSchema = z
  .strictObject({
    $schema: z.string().max(500).optional().meta({ description: 'For editors.' }),
    name: z.string().min(1).max(80).meta({ description: 'Name of the map.' }),
    description: z.string().max(1000).optional().meta({ description: 'The device that the map imitates.' }),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .meta({ description: 'Port unless --proxy_port says otherwise; default 5020.' }),
    device: z
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .meta({ description: 'Index of the one device that is served; absent: all of them, with unit id 1 + index.' }),
    unit_id: z
      .int()
      .min(1)
      .max(maxUnitId)
      .optional()
      .meta({ description: 'Unit id of the one device, which also answers 0 and 255; default 1.' }),
    byte_order: order
      .optional()
      .meta({ description: 'Order of the octets in a register; default big, as Modbus has it.' }),
    word_order: order.optional().meta({
      description: 'Order of the registers of a number: big is the most significant first (default), little the least.',
    }),
    write_word_order: order
      .optional()
      .meta({ description: 'Order of the registers of a number in a write; default word_order.' }),
    absent: z
      .enum(['sentinel', 'zero', 'refuse'])
      .optional()
      .meta({ description: 'Answer to a read where the device does not have a point; default sentinel.' }),
    gaps: z
      .enum(['refuse', 'zero', 'ones'])
      .optional()
      .meta({ description: 'Reads of registers between those of the map: exception 2 (default), 0, or 65535.' }),
    registers: z.array(registerSchema).min(1).max(5000).meta({ description: 'The registers, in any order.' }),
  })
  .meta({ title: 'Proxy map', description: 'A register map in front of the SunSpec map of the devices, for --proxy.' });

export type ProxyMap = z.output<typeof proxyMapSchema>;
export type ProxyRegister = ProxyMap['registers'][number];
