module Shop

function total(net)
    net * 2
end

end
