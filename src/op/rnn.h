/* rnn.h - inputs of lstm_grad and gru_grad, for the operators and their kernels. */
#ifndef MS_OP_RNN_H
#define MS_OP_RNN_H

enum {
    LSTM_DY,
    LSTM_DC,
    LSTM_DGATES,
    LSTM_GATES,
    LSTM_CS,
    LSTM_C,
    LSTM_W,
    N_LSTM_GRAD
};
enum {
    GRU_DY,
    GRU_DGATES,
    GRU_GATES,
    GRU_Y,
    GRU_H,
    GRU_W,
    N_GRU_GRAD
};

#endif
