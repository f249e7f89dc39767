/** Files that a station fetches and delivers at the word of its central system, free of version. */

/** Values of SupportedFileTransferProtocols: these work, no others. */
export const fileProtocols = ['HTTP', 'HTTPS'] as const;

/**
 * Why a transfer failed. `bad_location`: no URL, or one that outbound rules refuse. `unsupported`: another protocol, or the
 * server offers no such method. `permission`: 401, 403. `bad_message`: the server takes the request for faulty.
 * `too_large`: beyond the limit. `broken`: connection, time-out, other answers. `cancelled`: by the station.
 */
export type TransferFailure =
  | 'bad_location'
  | 'unsupported'
  | 'permission'
  | 'bad_message'
  | 'too_large'
  | 'broken'
  | 'cancelled';

/** The text shows no credentials and no query of the location. */
export class TransferError extends Error {
  readonly failure: TransferFailure;

  constructor(failure: TransferFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

export interface DownloadOptions {
  readonly signal: AbortSignal;
  /** the octets in order, piece by piece; nothing is kept here */
  readonly chunk: (octets: Buffer) => void;
}

export interface Downloaded {
  /** last part of the path; empty: it has none */
  readonly name: string;
  readonly octets: number;
}

export interface UploadFile {
  readonly name: string;
  readonly octets: Buffer;
}

export interface FileTransfer {
  readonly protocols: readonly string[];
  /** One attempt. @throws TransferError */
  download(location: string, options: DownloadOptions): Promise<Downloaded>;
  /**
   * One attempt. A location that ends with `/`, or whose last part has no dot, is a folder and takes the file name behind
   * it; any other one is the file itself.
   * @throws TransferError
   */
  upload(location: string, file: UploadFile, signal: AbortSignal): Promise<void>;
}
