{{ typed_mart() }}
