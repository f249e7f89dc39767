/** Submissions of one EndDevice to its server, and the places of the server for them. */
import { nowhere } from './report/reporter.ts';
import type { DerHrefs, ReportHrefs, Reporter } from './report/reporter.ts';
import type { ResponseSender } from './events/responses.ts';
import type { DER } from './xml/documents.ts';
import type { EndDeviceFacts, Located, ServerFacts } from './walk/model.ts';
import { resolved } from './walk/reader.ts';

type LinkName = keyof { [Name in keyof DER as Name extends `DER${string}Link` ? Name : never]: true };

const derLinks = {
  capability: 'DERCapabilityLink',
  settings: 'DERSettingsLink',
  status: 'DERStatusLink',
  availability: 'DERAvailabilityLink',
} as const satisfies Readonly<Record<keyof DerHrefs, LinkName>>;

function linked(link: { readonly href?: string | undefined } | undefined, base: string): string | null {
  return link?.href === undefined ? null : resolved(link.href, base);
}

function derHrefs({ document, base }: Located<DER>): DerHrefs {
  const of = (name: keyof DerHrefs) => linked(document[derLinks[name]], base);
  return {
    capability: of('capability'),
    settings: of('settings'),
    status: of('status'),
    availability: of('availability'),
  };
}

/**
 * The places of the server for reports of an EndDevice. Where the list has no DER for some device, the first DER stands
 * for all of them together.
 * @param places for each device the place of its DER in the list
 */
export function reportHrefs(
  { document, base, ders }: EndDeviceFacts,
  server: ServerFacts | null,
  places: readonly number[],
): ReportHrefs {
  const [first] = ders;
  const enough = places.every((place) => place < ders.length);
  return {
    ders: places.map((place) => {
      const der = enough ? ders[place] : undefined;
      return der ? derHrefs(der) : null;
    }),
    together: enough || first === undefined ? null : derHrefs(first),
    logEventList: linked(document.LogEventListLink, base),
    mirrorUsagePointList: server === null ? null : linked(server.document.MirrorUsagePointListLink, server.base),
    deviceInformation: linked(document.DeviceInformationLink, base),
    deviceStatus: linked(document.DeviceStatusLink, base),
    powerStatus: linked(document.PowerStatusLink, base),
    connectionPoint: linked(document.ConnectionPointLink, base),
    postRateS: document.postRate ?? null,
  };
}

export interface SubmissionsOptions {
  readonly responses: ResponseSender;
  /** called with the first EndDevice that is found: before, there is no address to report to */
  readonly makeReporter: () => Reporter;
  /** for each device the present place of its DER in the DERList */
  readonly places: () => readonly number[];
}

/** Everything sent to the server for an EndDevice: reports, readings, log events, responses. */
export class Submissions {
  readonly responses: ResponseSender;
  readonly #options: SubmissionsOptions;
  #reporter: Reporter | null = null;
  /** the arguments of the last `follow` */
  #place: readonly [EndDeviceFacts, ServerFacts | null] | null = null;
  #closed = false;

  constructor(options: SubmissionsOptions) {
    this.#options = options;
    this.responses = options.responses;
  }

  /** null: no EndDevice was found yet */
  get reporter(): Reporter | null {
    return this.#reporter;
  }

  /** The EndDevice was found or has changed, or (null) is not there. */
  follow(facts: EndDeviceFacts | null, server: ServerFacts | null): void {
    if (this.#closed) return;
    this.#place = facts && [facts, server];
    if (facts === null) {
      this.#reporter?.follow(nowhere);
      return;
    }
    const { makeReporter, places } = this.#options;
    this.#reporter ??= makeReporter();
    this.#reporter.follow(reportHrefs(facts, server, places()));
  }

  /** Reports about the present devices. */
  regroup(): void {
    if (this.#reporter === null) return;
    this.#reporter.stop();
    this.#reporter = null;
    if (this.#place !== null) this.follow(...this.#place);
  }

  /** Responses wait while the server cannot be reached; documents and readings have retries of their own. */
  reachable(yes: boolean): void {
    this.responses.reachable(yes);
  }

  /** Ends for good: sends nothing any more. */
  close(): Promise<void> {
    this.#closed = true;
    this.responses.close();
    this.#reporter?.stop();
    return Promise.resolve();
  }
}
