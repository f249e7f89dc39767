/** What a head-end knows. Tests change these objects while it runs; each answer is made from them anew. */

/** A value of a control mode: a scalar, the members of a structure in the order of the schema, or a curve. */
export type ModeValue = boolean | number | Readonly<Record<string, number | boolean>> | Curve;
export type Modes = Readonly<Record<string, ModeValue>>;

export interface Curve {
  readonly id: number;
  readonly mRID: string;
  readonly curveType: number;
  readonly points: readonly { readonly x: number; readonly y: number; readonly excitation?: boolean }[];
  readonly xMultiplier: number;
  readonly yMultiplier: number;
  readonly yRefType: number;
  readonly openLoopTms?: number;
  readonly vRef?: number;
  readonly autonomousVRefEnable?: boolean;
  readonly autonomousVRefTimeConstant?: number;
}

export interface Control {
  readonly id: number;
  readonly mRID: string;
  readonly description: string;
  readonly creationS: number;
  readonly startS: number;
  readonly durationS: number;
  readonly randomizeStartS?: number;
  readonly randomizeDurationS?: number;
  readonly deviceCategory?: string;
  /** two hex digits; absent: no response is asked for */
  readonly responseRequired?: string;
  readonly modes: Modes;
  /** 2 cancelled, 3 cancelled with randomization, 4 superseded; null: scheduled or active, by the time */
  status: 2 | 3 | 4 | null;
  statusS: number;
  potentiallySuperseded: boolean;
  /** in place of the path that this head-end would give */
  readonly replyTo?: string;
}

export interface DefaultControl {
  readonly mRID: string;
  readonly modes: Modes;
  /** setES..., setGradW, setSoftGradW: in the order of the schema */
  readonly settings: Readonly<Record<string, number>>;
}

export interface Program {
  readonly id: number;
  mRID: string;
  primacy: number;
  description: string;
  /** of the FunctionSetAssignments that names it */
  fsaId: number;
  /** EndDevices that see it; null: all */
  endDevices: ReadonlySet<number> | null;
  default: DefaultControl | null;
  readonly controls: Control[];
  readonly curves: Curve[];
}

export interface Fsa {
  readonly id: number;
  readonly mRID: string;
  description: string;
  /** path of a Time of its own */
  timeHref?: string;
}

export interface EndDevice {
  readonly id: number;
  readonly lfdi: string;
  readonly sfdi: number;
  /** LFDI of the certificate that may see it */
  readonly owner: string;
  readonly changedS: number;
  enabled: boolean;
  /** with its check digit; null: no RegistrationLink */
  pin: number | null;
  /** FunctionSetAssignments that it has; null: all */
  fsas: ReadonlySet<number> | null;
  /** numbers of its DERs that exist already; a POST adds one */
  readonly ders: number[];
  readonly documents: Map<string, Recorded>;
  readonly logEvents: Recorded[];
  /** links that it does not have: names of elements */
  readonly without: Set<string>;
}

/** A request as it came, with what was answered. */
export interface Recorded {
  readonly index: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** raw; empty without one */
  readonly body: string;
  /** name of the root element of the body, without prefix; null: no body */
  readonly root: string | null;
  /** time of the head-end, seconds */
  readonly atS: number;
  /** of the client certificate; null over plain HTTP */
  readonly lfdi: string | null;
  /** version and suite; null over plain HTTP */
  readonly cipher: string | null;
  /** 0 until it is answered, and when the connection was cut */
  status: number;
}

export interface ResponseRecord {
  readonly mRID: string;
  readonly status: number;
  readonly lfdi: string;
  readonly createdS: number;
  readonly atS: number;
  readonly path: string;
}

export interface MirrorPoint {
  readonly id: number;
  readonly mRID: string;
  readonly roleFlags: string;
  readonly deviceLfdi: string;
  readonly owner: string | null;
  readonly xml: string;
  /** seconds; what this head-end asks for */
  postRate: number;
}

export interface ReadingRecord {
  readonly mup: number;
  readonly mRID: string;
  /** uom, kind, dataQualifier, flowDirection, phase, powerOfTenMultiplier ...: as its first reading said */
  readonly type: Readonly<Record<string, number>>;
  readonly value: number;
  readonly startS: number | null;
  readonly durationS: number | null;
  readonly atS: number;
}

export interface SubscriptionRecord {
  readonly id: number;
  readonly href: string;
  readonly resource: string;
  readonly notificationUri: string;
  readonly level: string;
  readonly limit: number;
  /** LFDI of the client; null over plain HTTP */
  readonly owner: string | null;
}

/** Rates in seconds; undefined: the attribute is absent. */
export interface Rates {
  dcap?: number | undefined;
  time?: number | undefined;
  endDevices?: number | undefined;
  /** EndDevice.postRate: DER documents */
  endDevicePost?: number | undefined;
  fsas?: number | undefined;
  programs?: number | undefined;
  ders?: number | undefined;
  mirrors?: number | undefined;
  mirrorPost: number;
}
